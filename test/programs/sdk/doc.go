// Package sdk_test uses the newest modules of the Azure SDK for Go that Go's module proxy serves, beside a cluster of the provider.
package sdk_test
