package aks

import (
	"maps"
	"slices"
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// reserved is the prefix of the labels and taints of nodes that are AKS's own.
const reserved = "kubernetes.azure.com"

// poolModel is the agent pool that the spec asks for, without version and count.
func poolModel(in Input, pool Pool, have ObservedPool) aks.AgentPool {
	spec := pool.AzurePool.Spec
	properties := &aks.ManagedClusterAgentPoolProfileProperties{
		Type:                   new(poolType(have)),
		Mode:                   new(aks.AgentPoolMode(spec.Mode)),
		VMSize:                 new(spec.SKU),
		OSType:                 choice[aks.OSType](spec.OSType),
		OSDiskType:             choice[aks.OSDiskType](spec.OsDiskType),
		AvailabilityZones:      listOf(spec.AvailabilityZones),
		MaxPods:                number(spec.MaxPods),
		EnableAutoScaling:      new(spec.Scaling != nil),
		EnableEncryptionAtHost: spec.EnableEncryptionAtHost,
		EnableFIPS:             spec.EnableFIPS,
		EnableNodePublicIP:     spec.EnableNodePublicIP,
		EnableUltraSSD:         spec.EnableUltraSSD,
		KubeletConfig:          kubeletConfig(spec.KubeletConfig),
		KubeletDiskType:        choice[aks.KubeletDiskType](spec.KubeletDiskType),
		LinuxOSConfig:          linuxOSConfig(spec.LinuxOSConfig),
		ScaleDownMode:          choice[aks.ScaleDownMode](spec.ScaleDownMode),
		ScaleSetPriority:       choice[aks.ScaleSetPriority](spec.ScaleSetPriority),
		NodeLabels:             mapOf(spec.NodeLabels),
		NodeTaints:             taints(spec.Taints),
		Tags:                   mapOf(spec.AdditionalTags),
	}
	if !madeByAKS(in) {
		properties.VnetSubnetID = new(string(PoolSubnetID(in, pool)))
	}
	if size := deref(spec.OSDiskSizeGB); size != 0 { // 0 is for what AKS finds fit, which it answers.
		properties.OSDiskSizeGB = number(spec.OSDiskSizeGB)
	}
	if prefix := deref(spec.NodePublicIPPrefixID); prefix != "" {
		properties.NodePublicIPPrefixID = new(id(prefix))
	}
	if spec.Scaling != nil {
		properties.MinCount, properties.MaxCount = number(spec.Scaling.MinSize), number(spec.Scaling.MaxSize)
	}
	if spec.SpotMaxPrice != nil {
		properties.SpotMaxPrice = new(float32(spec.SpotMaxPrice.AsApproximateFloat64()))
	}
	return aks.AgentPool{Properties: properties}
}

// poolType is the kind of VMs of the pool. It cannot be changed, so that of a pool that was taken over stays.
func poolType(have ObservedPool) aks.AgentPoolType {
	if have.Properties.Type != "" {
		return aks.AgentPoolType(have.Properties.Type)
	}
	return aks.AgentPoolTypeVirtualMachineScaleSets
}

// taints are the taints of nodes as AKS writes them.
func taints(specs infrav1.Taints) []*string {
	out := []*string{}
	for _, taint := range specs {
		out = append(out, new(taint.Key+"="+taint.Value+":"+string(taint.Effect)))
	}
	return out
}

// carryReserved puts the labels and taints that AKS has added into a body: a PUT replaces them all.
func carryReserved(have ObservedPool, body map[string]any) {
	for key, value := range have.Properties.NodeLabels {
		labels, _ := at(body, "properties.nodeLabels").(map[string]any)
		if _, known := labels[key]; strings.HasPrefix(key, reserved) && !known {
			labels = maps.Clone(labels)
			if labels == nil {
				labels = map[string]any{}
			}
			labels[key] = value
			set(body, "properties.nodeLabels", labels)
		}
	}
	for _, taint := range have.Properties.NodeTaints {
		list, _ := at(body, "properties.nodeTaints").([]any)
		if strings.HasPrefix(taint, reserved) && !slices.Contains(list, any(taint)) {
			set(body, "properties.nodeTaints", append(slices.Clone(list), taint))
		}
	}
}

func kubeletConfig(spec *infrav1.KubeletConfig) *aks.KubeletConfig {
	if spec == nil {
		return nil
	}
	return &aks.KubeletConfig{
		AllowedUnsafeSysctls:  listOf(spec.AllowedUnsafeSysctls),
		ContainerLogMaxFiles:  number(spec.ContainerLogMaxFiles),
		ContainerLogMaxSizeMB: number(spec.ContainerLogMaxSizeMB),
		CPUCfsQuota:           spec.CPUCfsQuota,
		CPUCfsQuotaPeriod:     word(spec.CPUCfsQuotaPeriod),
		CPUManagerPolicy:      word(spec.CPUManagerPolicy),
		FailSwapOn:            spec.FailSwapOn,
		ImageGcHighThreshold:  number(spec.ImageGcHighThreshold),
		ImageGcLowThreshold:   number(spec.ImageGcLowThreshold),
		PodMaxPids:            number(spec.PodMaxPids),
		TopologyManagerPolicy: word(spec.TopologyManagerPolicy),
	}
}

func linuxOSConfig(spec *infrav1.LinuxOSConfig) *aks.LinuxOSConfig {
	if spec == nil {
		return nil
	}
	return &aks.LinuxOSConfig{
		SwapFileSizeMB:             number(spec.SwapFileSizeMB),
		Sysctls:                    sysctls(spec.Sysctls),
		TransparentHugePageDefrag:  word(spec.TransparentHugePageDefrag),
		TransparentHugePageEnabled: word(spec.TransparentHugePageEnabled),
	}
}

func sysctls(spec *infrav1.SysctlConfig) *aks.SysctlConfig {
	if spec == nil {
		return nil
	}
	return &aks.SysctlConfig{
		FsAioMaxNr:                     number(spec.FsAioMaxNr),
		FsFileMax:                      number(spec.FsFileMax),
		FsInotifyMaxUserWatches:        number(spec.FsInotifyMaxUserWatches),
		FsNrOpen:                       number(spec.FsNrOpen),
		KernelThreadsMax:               number(spec.KernelThreadsMax),
		NetCoreNetdevMaxBacklog:        number(spec.NetCoreNetdevMaxBacklog),
		NetCoreOptmemMax:               number(spec.NetCoreOptmemMax),
		NetCoreRmemDefault:             number(spec.NetCoreRmemDefault),
		NetCoreRmemMax:                 number(spec.NetCoreRmemMax),
		NetCoreSomaxconn:               number(spec.NetCoreSomaxconn),
		NetCoreWmemDefault:             number(spec.NetCoreWmemDefault),
		NetCoreWmemMax:                 number(spec.NetCoreWmemMax),
		NetIPv4IPLocalPortRange:        word(spec.NetIPv4IPLocalPortRange),
		NetIPv4NeighDefaultGcThresh1:   number(spec.NetIPv4NeighDefaultGcThresh1),
		NetIPv4NeighDefaultGcThresh2:   number(spec.NetIPv4NeighDefaultGcThresh2),
		NetIPv4NeighDefaultGcThresh3:   number(spec.NetIPv4NeighDefaultGcThresh3),
		NetIPv4TCPFinTimeout:           number(spec.NetIPv4TCPFinTimeout),
		NetIPv4TCPKeepaliveProbes:      number(spec.NetIPv4TCPKeepaliveProbes),
		NetIPv4TCPKeepaliveTime:        number(spec.NetIPv4TCPKeepaliveTime),
		NetIPv4TCPMaxSynBacklog:        number(spec.NetIPv4TCPMaxSynBacklog),
		NetIPv4TCPMaxTwBuckets:         number(spec.NetIPv4TCPMaxTwBuckets),
		NetIPv4TCPTwReuse:              spec.NetIPv4TCPTwReuse,
		NetIPv4TcpkeepaliveIntvl:       number(spec.NetIPv4TCPkeepaliveIntvl),
		NetNetfilterNfConntrackBuckets: number(spec.NetNetfilterNfConntrackBuckets),
		NetNetfilterNfConntrackMax:     number(spec.NetNetfilterNfConntrackMax),
		VMMaxMapCount:                  number(spec.VMMaxMapCount),
		VMSwappiness:                   number(spec.VMSwappiness),
		VMVfsCachePressure:             number(spec.VMVfsCachePressure),
	}
}
