// Package transferred holds that an AKS cluster moves between the families of objects in virtual time, without a write to Azure.
package transferred
