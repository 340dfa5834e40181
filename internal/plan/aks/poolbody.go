package aks

import (
	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// buildPoolModel returns the agent pool of the spec, without version and count.
func buildPoolModel(in Input, pool Pool, have agentpool.Observed) aks.AgentPool {
	spec := pool.AzurePool.Spec
	properties := &aks.ManagedClusterAgentPoolProfileProperties{
		Type:                   new(wantedPoolType(have)),
		Mode:                   new(aks.AgentPoolMode(spec.Mode)),
		VMSize:                 new(spec.SKU),
		OSType:                 toEnum[aks.OSType](spec.OSType),
		OSDiskType:             toEnum[aks.OSDiskType](spec.OsDiskType),
		AvailabilityZones:      toPointers(spec.AvailabilityZones),
		MaxPods:                toInt32(spec.MaxPods),
		EnableAutoScaling:      new(spec.Scaling != nil),
		EnableEncryptionAtHost: spec.EnableEncryptionAtHost,
		EnableFIPS:             spec.EnableFIPS,
		EnableNodePublicIP:     spec.EnableNodePublicIP,
		EnableUltraSSD:         spec.EnableUltraSSD,
		KubeletConfig:          buildKubeletConfig(spec.KubeletConfig),
		KubeletDiskType:        toEnum[aks.KubeletDiskType](spec.KubeletDiskType),
		LinuxOSConfig:          buildLinuxOSConfig(spec.LinuxOSConfig),
		ScaleDownMode:          toEnum[aks.ScaleDownMode](spec.ScaleDownMode),
		ScaleSetPriority:       toEnum[aks.ScaleSetPriority](spec.ScaleSetPriority),
		NodeLabels:             toPointerMap(spec.NodeLabels),
		NodeTaints:             toNodeTaints(spec.Taints),
		Tags:                   toPointerMap(plan.MergeTags(spec.AdditionalTags)),
	}
	if !hasNetworkOfAKS(in) {
		properties.VnetSubnetID = new(string(PoolSubnetID(in, pool)))
	}
	if size := plan.Dereference(spec.OSDiskSizeGB); size != 0 { // 0 leaves the size to AKS, which shows its choice.
		properties.OSDiskSizeGB = toInt32(spec.OSDiskSizeGB)
	}
	if prefix := plan.Dereference(spec.NodePublicIPPrefixID); prefix != "" {
		properties.NodePublicIPPrefixID = new(normalizeID(prefix))
	}
	if spec.Scaling != nil {
		properties.MinCount, properties.MaxCount = toInt32(spec.Scaling.MinSize), toInt32(spec.Scaling.MaxSize)
	}
	if spec.SpotMaxPrice != nil {
		properties.SpotMaxPrice = new(float32(spec.SpotMaxPrice.AsApproximateFloat64()))
	}
	return aks.AgentPool{Properties: properties}
}

// wantedPoolType returns the type of the pool. The type of an existing pool is kept, because it cannot change.
func wantedPoolType(have agentpool.Observed) aks.AgentPoolType {
	if have.Properties.Type != "" {
		return aks.AgentPoolType(have.Properties.Type)
	}
	return aks.AgentPoolTypeVirtualMachineScaleSets
}

// toNodeTaints returns taints in the format of AKS.
func toNodeTaints(specs infrav1.Taints) []*string {
	out := []*string{}
	for _, taint := range specs {
		out = append(out, new(taint.Key+"="+taint.Value+":"+string(taint.Effect)))
	}
	return out
}

func buildKubeletConfig(spec *infrav1.KubeletConfig) *aks.KubeletConfig {
	if spec == nil {
		return nil
	}
	return &aks.KubeletConfig{
		AllowedUnsafeSysctls:  toPointers(spec.AllowedUnsafeSysctls),
		ContainerLogMaxFiles:  toInt32(spec.ContainerLogMaxFiles),
		ContainerLogMaxSizeMB: toInt32(spec.ContainerLogMaxSizeMB),
		CPUCfsQuota:           spec.CPUCfsQuota,
		CPUCfsQuotaPeriod:     toString(spec.CPUCfsQuotaPeriod),
		CPUManagerPolicy:      toString(spec.CPUManagerPolicy),
		FailSwapOn:            spec.FailSwapOn,
		ImageGcHighThreshold:  toInt32(spec.ImageGcHighThreshold),
		ImageGcLowThreshold:   toInt32(spec.ImageGcLowThreshold),
		PodMaxPids:            toInt32(spec.PodMaxPids),
		TopologyManagerPolicy: toString(spec.TopologyManagerPolicy),
	}
}

func buildLinuxOSConfig(spec *infrav1.LinuxOSConfig) *aks.LinuxOSConfig {
	if spec == nil {
		return nil
	}
	return &aks.LinuxOSConfig{
		SwapFileSizeMB:             toInt32(spec.SwapFileSizeMB),
		Sysctls:                    buildSysctls(spec.Sysctls),
		TransparentHugePageDefrag:  toString(spec.TransparentHugePageDefrag),
		TransparentHugePageEnabled: toString(spec.TransparentHugePageEnabled),
	}
}

func buildSysctls(spec *infrav1.SysctlConfig) *aks.SysctlConfig {
	if spec == nil {
		return nil
	}
	return &aks.SysctlConfig{
		FsAioMaxNr:                     toInt32(spec.FsAioMaxNr),
		FsFileMax:                      toInt32(spec.FsFileMax),
		FsInotifyMaxUserWatches:        toInt32(spec.FsInotifyMaxUserWatches),
		FsNrOpen:                       toInt32(spec.FsNrOpen),
		KernelThreadsMax:               toInt32(spec.KernelThreadsMax),
		NetCoreNetdevMaxBacklog:        toInt32(spec.NetCoreNetdevMaxBacklog),
		NetCoreOptmemMax:               toInt32(spec.NetCoreOptmemMax),
		NetCoreRmemDefault:             toInt32(spec.NetCoreRmemDefault),
		NetCoreRmemMax:                 toInt32(spec.NetCoreRmemMax),
		NetCoreSomaxconn:               toInt32(spec.NetCoreSomaxconn),
		NetCoreWmemDefault:             toInt32(spec.NetCoreWmemDefault),
		NetCoreWmemMax:                 toInt32(spec.NetCoreWmemMax),
		NetIPv4IPLocalPortRange:        toString(spec.NetIPv4IPLocalPortRange),
		NetIPv4NeighDefaultGcThresh1:   toInt32(spec.NetIPv4NeighDefaultGcThresh1),
		NetIPv4NeighDefaultGcThresh2:   toInt32(spec.NetIPv4NeighDefaultGcThresh2),
		NetIPv4NeighDefaultGcThresh3:   toInt32(spec.NetIPv4NeighDefaultGcThresh3),
		NetIPv4TCPFinTimeout:           toInt32(spec.NetIPv4TCPFinTimeout),
		NetIPv4TCPKeepaliveProbes:      toInt32(spec.NetIPv4TCPKeepaliveProbes),
		NetIPv4TCPKeepaliveTime:        toInt32(spec.NetIPv4TCPKeepaliveTime),
		NetIPv4TCPMaxSynBacklog:        toInt32(spec.NetIPv4TCPMaxSynBacklog),
		NetIPv4TCPMaxTwBuckets:         toInt32(spec.NetIPv4TCPMaxTwBuckets),
		NetIPv4TCPTwReuse:              spec.NetIPv4TCPTwReuse,
		NetIPv4TcpkeepaliveIntvl:       toInt32(spec.NetIPv4TCPkeepaliveIntvl),
		NetNetfilterNfConntrackBuckets: toInt32(spec.NetNetfilterNfConntrackBuckets),
		NetNetfilterNfConntrackMax:     toInt32(spec.NetNetfilterNfConntrackMax),
		VMMaxMapCount:                  toInt32(spec.VMMaxMapCount),
		VMSwappiness:                   toInt32(spec.VMSwappiness),
		VMVfsCachePressure:             toInt32(spec.VMVfsCachePressure),
	}
}
