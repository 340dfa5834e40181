// Package sharedwriters_test writes the values of other programs into the resources of the provider, with the verb and the body that
// these programs use, and checks that the provider keeps the values, writes nothing because of them, and still keeps them when it has to
// write the resource itself. The book's page about these programs is written from the same rows.
package sharedwriters_test
