// Package sharedwriters_test writes into the resources of the provider what other programs write there, with the verb and the body that they
// use, and makes sure that the provider keeps it, writes nothing because of it, and still keeps it when it has to write the resource itself.
// The book's page about these programs is written from the same rows.
package sharedwriters_test
