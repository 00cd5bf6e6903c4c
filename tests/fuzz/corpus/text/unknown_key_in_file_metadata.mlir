{-# some_key: {} #-}
