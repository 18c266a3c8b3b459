// Exists so that client-go is required here: its own benchmarks are run from this module.
package main

import _ "k8s.io/client-go/tools/cache"

func main() {}
