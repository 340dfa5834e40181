package definition

import "testing"

// BenchmarkCheck measures the cost that definitions add to a write and a read of an AKS cluster.
func BenchmarkCheck(b *testing.B) {
	const cluster, version = "Microsoft.ContainerService/managedClusters", "2025-10-01"
	body := decodeJSON(b, `{"location":"x","identity":{"type":"SystemAssigned"},"properties":{"dnsPrefix":"d","enableRBAC":true,"networkProfile":{"networkPlugin":"azure","dnsServiceIP":"10.0.0.10","serviceCidr":"10.0.0.0/16"},
		"agentPoolProfiles":[{"name":"a","count":3,"vmSize":"Standard_D2s_v3","mode":"System","osDiskSizeGB":128},{"name":"b","count":3,"vmSize":"Standard_D2s_v3","upgradeSettings":{"maxSurge":"33%"}}]}}`)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if got := Check(cluster, version, body, body); got != nil {
				b.Fatal(got)
			}
			DropReadOnly(cluster, version, body)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			HideOtherVersions(cluster, version, body)
		}
	})
	b.Run("file", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parseDocument("Microsoft.ContainerService@2026-05-02-preview")
		}
	})
}
