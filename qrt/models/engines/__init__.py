"""Other runtimes, each in a child process with limits of time and memory: what qrt is compared with."""
