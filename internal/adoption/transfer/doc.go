// Package transfer moves an AKS cluster from the objects of one family to those of the other, AzureManaged or AzureASOManaged, while it
// runs. It writes to Kubernetes only. Before its first write it checks, with a client that cannot write to Azure, that the new objects
// change nothing in Azure.
//
// Steps that are done already are skipped, so repeating an interrupted transfer completes it.
package transfer
