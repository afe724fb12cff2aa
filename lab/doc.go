// Package lab is the root of the module that measures Floodmark: recorded attacks, days of
// coding work, long runs, real agents and servers, mutants, benchmarks. It holds nothing itself.
//
// Nothing here is part of the product, and nothing of the product imports it. The module
// lies below the product's path, so that it may import the product's internal packages.
package lab
