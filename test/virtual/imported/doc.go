// Package imported imports self-managed clusters whose objects are gone: kubectl capz import writes manifests from the simulated Azure, they
// are applied to another management cluster, and its manager writes nothing to Azure.
package imported
