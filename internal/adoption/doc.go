// Package adoption writes the manifests by which an AKS cluster that somebody made is taken over, into AzureManaged kinds or into
// kinds of documents, from what Azure shows of it.
//
// Its promise: what Azure shows and a request may set is in the manifests, or among what could not be said, with its place. It is
// pure, and what it says of values has no secret in it. Package survey reads what it starts from, and package proof tells whether
// applying the manifests would write anything.
package adoption
