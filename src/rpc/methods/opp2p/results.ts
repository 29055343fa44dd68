import type { PeerFacts, PeerStats, PeersFacts } from '#types/peer'
import type { Json } from '../../json.ts'
import type { ResultCodec } from '../../registry.ts'

const directions = { unknown: 0, inbound: 1, outbound: 2 } as const

/** Counters of op-node that this node does not keep are zero. */
function peerJson(chainId: number, peer: PeerFacts): Json {
  return {
    peerID: peer.peerId,
    nodeID: peer.nodeId === '' ? '' : `0x${peer.nodeId}`,
    userAgent: peer.agent,
    protocolVersion: peer.protocolVersion,
    ENR: peer.enr,
    addresses: peer.addresses,
    protocols: peer.protocols,
    connectedness: peer.isConnected ? 1 : 0,
    direction: directions[peer.direction],
    protected: peer.isProtected,
    chainID: chainId,
    latency: Math.round(peer.latencyMs * 1_000_000),
    gossipBlocks: peer.gossipBlocks,
    scores: {
      gossip: {
        total: peer.score,
        blocks: { timeInMesh: 0, firstMessageDeliveries: 0, meshMessageDeliveries: 0, invalidMessageDeliveries: 0 },
        IPColocationFactor: 0,
        behavioralPenalty: 0,
      },
      reqResp: { validResponses: 0, errorResponses: 0, rejectedPayloads: 0 },
    },
  }
}

const peerSchema = { type: 'object', required: ['peerID', 'addresses', 'connectedness', 'direction', 'scores'] }

export type OfChain<T> = { readonly chainId: number; readonly value: T }

export const peerResult: ResultCodec<OfChain<PeerFacts>> = {
  doc: "peer, in op-node's format",
  schema: peerSchema,
  encode: ({ chainId, value }) => peerJson(chainId, value),
}

export const peersResult: ResultCodec<OfChain<PeersFacts>> = {
  doc: "peers by id, with the denied peers, addresses and subnets, in op-node's format",
  schema: { type: 'object', required: ['totalConnected', 'peers', 'bannedPeers', 'bannedIPS', 'bannedSubnets'] },
  encode: ({ chainId, value: { peers, bannedPeers, bannedAddresses, bannedSubnets } }) => ({
    totalConnected: peers.filter(({ isConnected }) => isConnected).length,
    peers: Object.fromEntries(peers.map((peer) => [peer.peerId, peerJson(chainId, peer)])),
    bannedPeers,
    bannedIPS: bannedAddresses,
    bannedSubnets,
  }),
}

export const peerStatsResult: ResultCodec<PeerStats> = {
  doc: 'numbers of peers: connected, in the routing table, by topic, denied, known',
  schema: { type: 'object', required: ['connected', 'table', 'blocksTopic', 'banned', 'known'] },
  encode: ({ connected, table, topics: [v0 = 0, v1 = 0, v2 = 0, v3 = 0], banned, known }) => ({
    ...{ connected, table, blocksTopic: v0, blocksTopicV2: v1, blocksTopicV3: v2, blocksTopicV4: v3, banned, known },
  }),
}

export const peerCountResult: ResultCodec<PeerStats> = {
  doc: 'nodes in the routing table, and connected peers',
  schema: { type: 'object', required: ['connectedDiscovery', 'connectedGossip'] },
  encode: ({ connected, table }) => ({ connectedDiscovery: table, connectedGossip: connected }),
}
