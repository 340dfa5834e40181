// Package readonly is the part of an adoption that sends requests to Azure. It reads an AKS cluster with all resources below it, and
// checks whether applying the manifests of the adoption would write to Azure: the engine reconciles the objects as in the manager, with a
// client that cannot write.
//
// It only reads from Azure, one request after the other, and may be repeated.
package readonly
