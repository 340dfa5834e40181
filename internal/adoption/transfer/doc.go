// Package transfer moves an AKS cluster from the objects of one family to those of the other, AzureManaged or AzureASOManaged, while it
// runs. Its writes go to Kubernetes alone. A client that cannot write to Azure proves before the first of them that the new objects
// change nothing there.
//
// Each step is done if it is not done yet, so a transfer that was interrupted is completed by a repetition.
package transfer
