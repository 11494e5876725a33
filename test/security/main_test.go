// Package security attacks the whole program as outsiders and tenants would: it calls
// every operation with the identifiers of another company, looks for secrets in
// everything the program writes, and floods it. Tests of failing hardware belong to
// test/faults.
package security
