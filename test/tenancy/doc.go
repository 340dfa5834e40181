// Package tenancy_test holds, over all kinds, the rules for what a tenant's object may have done in Azure with an identity that another
// namespace lends. A rule is tried in two ways: plans of every kind get a node that breaks it, whatever fields the kind has, and
// objects get the fields and documents by which tenants would try. Time is virtual.
//
// A kind that is new has to pass the rules: the tests list the kinds by what is in internal/controller.
package tenancy_test
