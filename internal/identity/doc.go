// Package identity turns an AzureClusterIdentity into a credential for Azure. It is the only package that reads
// credential Secrets and certificate files.
//
// Resolving does not talk to Azure: a credential asks for its first token when it is first used, so a wrong secret shows
// there. Credentials are kept and shared, keyed by everything they are made of, so that a changed Secret gives a new
// one at the next call. Secret values are in no error, log line or printed struct.
package identity
