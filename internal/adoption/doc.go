// Package adoption writes the manifests for the adoption of an existing AKS cluster, with AzureManaged kinds or AzureASOManaged
// kinds, from the cluster's state in Azure.
//
// Every value that Azure shows and a request may set is either in the manifests, or returned as an OmittedValue with its path. The
// package is pure, and its messages about values contain no secret. Package readonly reads the state in Azure and checks
// whether applying the manifests would write to Azure.
package adoption
