// Package networks tests limits of Azure's networks: peerings whose other side is deleted or has new address ranges, tags of private DNS
// zones, and fixed addresses of private endpoints.
package networks
