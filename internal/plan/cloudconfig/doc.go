// Package cloudconfig writes azure.json, the configuration of cloud-provider-azure that machines boot with. It is pure.
package cloudconfig
