// Package tenancy_test tests, over all kinds, the rules for a tenant's object that uses an identity which another
// namespace lends: the effects in Azure that it may have. A rule is tried in two ways: plans of every kind get a node
// that breaks it, whatever fields the kind has, and objects get the fields and documents by which tenants would try.
// Time is virtual.
//
// A new kind has to pass the rules: the tests read the list of kinds from the folders of internal/controller.
package tenancy_test
