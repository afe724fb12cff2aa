// Package lab is the root of the module that measures Floodmark: recorded attacks, days of coding
// work, long runs, real agents and servers, mutants, benchmarks. The package itself is empty.
//
// Nothing here is part of the product, and the product imports nothing of it. The module's path is
// below the product's, so that it may import the product's internal packages.
package lab
