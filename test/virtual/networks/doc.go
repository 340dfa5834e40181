// Package networks has stories about what Azure refuses or forgets in networks: peerings that lose their other side or its address ranges,
// tags of private DNS, and addresses of private endpoints.
package networks
