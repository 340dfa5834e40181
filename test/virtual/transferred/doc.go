// Package transferred moves an AKS cluster between the families of objects, and resources between the objects of a Cluster, in virtual time
// and without a write to Azure.
package transferred
