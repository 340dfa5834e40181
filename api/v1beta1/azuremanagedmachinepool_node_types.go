package v1beta1

// KubeletDiskType is the disk that stores emptyDir volumes, container images and kubelet data.
// +kubebuilder:validation:Enum=OS;Temporary
type KubeletDiskType string

const (
	// KubeletDiskTypeOS is the OS disk.
	KubeletDiskTypeOS KubeletDiskType = "OS"
	// KubeletDiskTypeTemporary is the temporary disk of the machine.
	KubeletDiskTypeTemporary KubeletDiskType = "Temporary"
)

// CPUManagerPolicy is the kubelet's CPU manager policy.
// +kubebuilder:validation:Enum=none;static
type CPUManagerPolicy string

// TopologyManagerPolicy is the kubelet's topology manager policy.
// +kubebuilder:validation:Enum=none;best-effort;restricted;single-numa-node
type TopologyManagerPolicy string

// TransparentHugePageOption is a value of /sys/kernel/mm/transparent_hugepage/enabled and defrag.
type TransparentHugePageOption string

// KubeletConfig has settings of the kubelet.
type KubeletConfig struct {
	// cpuManagerPolicy is the CPU manager policy: none (the default of AKS) or static.
	// +optional
	CPUManagerPolicy *CPUManagerPolicy `json:"cpuManagerPolicy,omitempty"`

	// cpuCfsQuota enforces CPU limits of containers with CFS quotas. The default of AKS is true.
	// +optional
	CPUCfsQuota *bool `json:"cpuCfsQuota,omitempty"`

	// cpuCfsQuotaPeriod is the CFS quota period in milliseconds, for example "100ms", which is the default of AKS.
	// +optional
	CPUCfsQuotaPeriod *string `json:"cpuCfsQuotaPeriod,omitempty"`

	// imageGcHighThreshold is the disk usage, in percent, above which the kubelet removes unused images, 0 to 100. The
	// default of AKS is 85.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ImageGcHighThreshold *int `json:"imageGcHighThreshold,omitempty"`

	// imageGcLowThreshold is the disk usage, in percent, down to which the kubelet removes unused images, 0 to 100. The
	// default of AKS is 80.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ImageGcLowThreshold *int `json:"imageGcLowThreshold,omitempty"`

	// topologyManagerPolicy is the topology manager policy: none (the default of AKS), best-effort, restricted or
	// single-numa-node.
	// +optional
	TopologyManagerPolicy *TopologyManagerPolicy `json:"topologyManagerPolicy,omitempty"`

	// allowedUnsafeSysctls lists the unsafe sysctls that pods may set. An entry that ends in * is a prefix. At most
	// 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	AllowedUnsafeSysctls []string `json:"allowedUnsafeSysctls,omitempty"`

	// failSwapOn keeps the kubelet from starting on nodes with swap. The default of AKS is true.
	// +optional
	FailSwapOn *bool `json:"failSwapOn,omitempty"`

	// containerLogMaxSizeMB is the size in megabytes at which the log file of a container is rotated, at most 1000000.
	// +optional
	// +kubebuilder:validation:Maximum=1000000
	ContainerLogMaxSizeMB *int `json:"containerLogMaxSizeMB,omitempty"`

	// containerLogMaxFiles is the number of log files that are kept for a container, 2 to 100000.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=100000
	ContainerLogMaxFiles *int `json:"containerLogMaxFiles,omitempty"`

	// podMaxPids is the number of processes that a pod may have, at most 4194304. -1 is the default of the kubelet.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=4194304
	PodMaxPids *int `json:"podMaxPids,omitempty"`
}

// LinuxOSConfig has settings of Linux on nodes.
type LinuxOSConfig struct {
	// swapFileSizeMB is the size of the swap file in megabytes, 1 to 16777216. It needs kubeletConfig.failSwapOn false.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16777216
	SwapFileSizeMB *int `json:"swapFileSizeMB,omitempty"`

	// sysctls are kernel parameters.
	// +optional
	Sysctls *SysctlConfig `json:"sysctls,omitempty"`

	// transparentHugePageDefrag selects when the kernel compacts memory for huge pages: always, defer, defer+madvise,
	// madvise (the default of AKS) or never.
	// +optional
	// +kubebuilder:validation:Enum=always;defer;defer+madvise;madvise;never
	TransparentHugePageDefrag *TransparentHugePageOption `json:"transparentHugePageDefrag,omitempty"`

	// transparentHugePageEnabled selects when the kernel uses huge pages: always (the default of AKS), madvise or
	// never.
	// +optional
	// +kubebuilder:validation:Enum=always;madvise;never
	TransparentHugePageEnabled *TransparentHugePageOption `json:"transparentHugePageEnabled,omitempty"`
}

// SysctlConfig are kernel parameters of nodes.
type SysctlConfig struct {
	// fsAioMaxNr is fs.aio-max-nr.
	// +optional
	// +kubebuilder:validation:Minimum=65536
	// +kubebuilder:validation:Maximum=6553500
	FsAioMaxNr *int `json:"fsAioMaxNr,omitempty"`

	// fsFileMax is fs.file-max.
	// +optional
	// +kubebuilder:validation:Minimum=8192
	// +kubebuilder:validation:Maximum=12000500
	FsFileMax *int `json:"fsFileMax,omitempty"`

	// fsInotifyMaxUserWatches is fs.inotify.max_user_watches.
	// +optional
	// +kubebuilder:validation:Minimum=781250
	// +kubebuilder:validation:Maximum=2097152
	FsInotifyMaxUserWatches *int `json:"fsInotifyMaxUserWatches,omitempty"`

	// fsNrOpen is fs.nr_open.
	// +optional
	// +kubebuilder:validation:Minimum=8192
	// +kubebuilder:validation:Maximum=20000500
	FsNrOpen *int `json:"fsNrOpen,omitempty"`

	// kernelThreadsMax is kernel.threads-max.
	// +optional
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=513785
	KernelThreadsMax *int `json:"kernelThreadsMax,omitempty"`

	// netCoreNetdevMaxBacklog is net.core.netdev_max_backlog.
	// +optional
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=3240000
	NetCoreNetdevMaxBacklog *int `json:"netCoreNetdevMaxBacklog,omitempty"`

	// netCoreOptmemMax is net.core.optmem_max.
	// +optional
	// +kubebuilder:validation:Minimum=20480
	// +kubebuilder:validation:Maximum=4194304
	NetCoreOptmemMax *int `json:"netCoreOptmemMax,omitempty"`

	// netCoreRmemDefault is net.core.rmem_default.
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreRmemDefault *int `json:"netCoreRmemDefault,omitempty"`

	// netCoreRmemMax is net.core.rmem_max.
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreRmemMax *int `json:"netCoreRmemMax,omitempty"`

	// netCoreSomaxconn is net.core.somaxconn.
	// +optional
	// +kubebuilder:validation:Minimum=4096
	// +kubebuilder:validation:Maximum=3240000
	NetCoreSomaxconn *int `json:"netCoreSomaxconn,omitempty"`

	// netCoreWmemDefault is net.core.wmem_default.
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreWmemDefault *int `json:"netCoreWmemDefault,omitempty"`

	// netCoreWmemMax is net.core.wmem_max.
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreWmemMax *int `json:"netCoreWmemMax,omitempty"`

	// netIpv4IPLocalPortRange is net.ipv4.ip_local_port_range: the first port, 1024 to 60999, a space and the last one, 32768 to 65000.
	// +optional
	NetIPv4IPLocalPortRange *string `json:"netIpv4IPLocalPortRange,omitempty"`

	// netIpv4NeighDefaultGcThresh1 is net.ipv4.neigh.default.gc_thresh1.
	// +optional
	// +kubebuilder:validation:Minimum=128
	// +kubebuilder:validation:Maximum=80000
	NetIPv4NeighDefaultGcThresh1 *int `json:"netIpv4NeighDefaultGcThresh1,omitempty"`

	// netIpv4NeighDefaultGcThresh2 is net.ipv4.neigh.default.gc_thresh2.
	// +optional
	// +kubebuilder:validation:Minimum=512
	// +kubebuilder:validation:Maximum=90000
	NetIPv4NeighDefaultGcThresh2 *int `json:"netIpv4NeighDefaultGcThresh2,omitempty"`

	// netIpv4NeighDefaultGcThresh3 is net.ipv4.neigh.default.gc_thresh3.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=100000
	NetIPv4NeighDefaultGcThresh3 *int `json:"netIpv4NeighDefaultGcThresh3,omitempty"`

	// netIpv4TCPFinTimeout is net.ipv4.tcp_fin_timeout.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=120
	NetIPv4TCPFinTimeout *int `json:"netIpv4TCPFinTimeout,omitempty"`

	// netIpv4TCPKeepaliveProbes is net.ipv4.tcp_keepalive_probes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15
	NetIPv4TCPKeepaliveProbes *int `json:"netIpv4TCPKeepaliveProbes,omitempty"`

	// netIpv4TCPKeepaliveTime is net.ipv4.tcp_keepalive_time.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=432000
	NetIPv4TCPKeepaliveTime *int `json:"netIpv4TCPKeepaliveTime,omitempty"`

	// netIpv4TCPMaxSynBacklog is net.ipv4.tcp_max_syn_backlog.
	// +optional
	// +kubebuilder:validation:Minimum=128
	// +kubebuilder:validation:Maximum=3240000
	NetIPv4TCPMaxSynBacklog *int `json:"netIpv4TCPMaxSynBacklog,omitempty"`

	// netIpv4TCPMaxTwBuckets is net.ipv4.tcp_max_tw_buckets.
	// +optional
	// +kubebuilder:validation:Minimum=8000
	// +kubebuilder:validation:Maximum=1440000
	NetIPv4TCPMaxTwBuckets *int `json:"netIpv4TCPMaxTwBuckets,omitempty"`

	// netIpv4TCPTwReuse is net.ipv4.tcp_tw_reuse.
	// +optional
	NetIPv4TCPTwReuse *bool `json:"netIpv4TCPTwReuse,omitempty"`

	// netIpv4TCPkeepaliveIntvl is net.ipv4.tcp_keepalive_intvl.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=75
	NetIPv4TCPkeepaliveIntvl *int `json:"netIpv4TCPkeepaliveIntvl,omitempty"`

	// netNetfilterNfConntrackBuckets is net.netfilter.nf_conntrack_buckets.
	// +optional
	// +kubebuilder:validation:Minimum=65536
	// +kubebuilder:validation:Maximum=147456
	NetNetfilterNfConntrackBuckets *int `json:"netNetfilterNfConntrackBuckets,omitempty"`

	// netNetfilterNfConntrackMax is net.netfilter.nf_conntrack_max.
	// +optional
	// +kubebuilder:validation:Minimum=131072
	// +kubebuilder:validation:Maximum=1048576
	NetNetfilterNfConntrackMax *int `json:"netNetfilterNfConntrackMax,omitempty"`

	// vmMaxMapCount is vm.max_map_count.
	// +optional
	// +kubebuilder:validation:Minimum=65530
	// +kubebuilder:validation:Maximum=262144
	VMMaxMapCount *int `json:"vmMaxMapCount,omitempty"`

	// vmSwappiness is vm.swappiness.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	VMSwappiness *int `json:"vmSwappiness,omitempty"`

	// vmVfsCachePressure is vm.vfs_cache_pressure.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	VMVfsCachePressure *int `json:"vmVfsCachePressure,omitempty"`
}
