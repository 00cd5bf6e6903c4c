func.func @f() attributes {res_attrs = []} { return }
