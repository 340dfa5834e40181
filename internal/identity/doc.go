// Package identity turns an AzureClusterIdentity into a credential for Azure. It is the only package that reads
// credential Secrets and certificate files.
//
// Resolving an identity sends no requests to Azure: a credential requests its first token on first use, so a wrong secret causes an
// error only then. Credentials are cached and shared by a key of all their parts, so that the next call after a change of the
// Secret returns a new one. Errors, log lines and printed structs contain no secret values.
package identity
