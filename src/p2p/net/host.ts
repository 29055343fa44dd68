import { privateKeyFromRaw } from '@libp2p/crypto/keys'
import type { GossipSub } from '@libp2p/gossipsub'
import { type Identify, identify } from '@libp2p/identify'
import type { Libp2p, PeerId } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { type Ping, ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { hasInboundPlace } from '#lib/peers/inboundLimits'
import type { P2pSettings } from '../thread/protocol.ts'
import { type DenyList, ipOf } from './denyList.ts'
import type { BlockGossip } from './gossip.ts'
import { tcpAddress } from './peerAddress.ts'

export type Services = { readonly identify: Identify; readonly ping: Ping; readonly pubsub: GossipSub }
export type Host = Libp2p<{ identify: Identify; ping: Ping; pubsub: GossipSub }>

const idleMs = 60_000
/** @see Base's connection limits; libp2p counts the addresses of one host per second */
const limits = { pendingInbound: 5, pendingOutbound: 16, newPerHostPerSec: 10, dialMs: 30_000 }
/** Tag that keeps a peer when connections are closed for lack of room. */
export const protectedTag = 'basalt-protected'

/**
 * Creates the libp2p node, not started: TCP with noise and yamux, identify, ping, gossip.
 * @param isTrusted a trusted peer is exempt from the limits of inbound connections
 */
export async function createHost(
  settings: P2pSettings,
  gossip: BlockGossip,
  denied: DenyList,
  isTrusted: (peer: string) => boolean,
): Promise<Host> {
  const { identity, agent, host, port, advertise, maxPeers } = settings
  // with port 0 the bound port, which peers dial, is not known yet
  const announced = advertise?.host !== undefined && port > 0 ? [tcpAddress(advertise.host, advertise.tcpPort ?? port)] : []
  const node: Host = await createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(identity),
    nodeInfo: { name: 'basalt', userAgent: agent },
    addresses: { listen: [tcpAddress(host, port)], ...(announced.length > 0 && { announce: announced }) },
    transports: [
      tcp({
        inboundSocketInactivityTimeout: idleMs,
        outboundSocketInactivityTimeout: idleMs,
        maxConnections: maxPeers + limits.pendingInbound,
      }),
    ],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionGater: {
      ...denied.gater(),
      denyInboundUpgradedConnection: (peer, { remoteAddr }) =>
        !isTrusted(peer.toString()) &&
        !hasInboundPlace(
          node.getConnections().map((open) => ({ direction: open.direction, ip: ipOf(open.remoteAddr) })),
          maxPeers,
          ipOf(remoteAddr),
        ),
    },
    connectionManager: {
      maxConnections: maxPeers,
      maxIncomingPendingConnections: limits.pendingInbound,
      inboundConnectionThreshold: limits.newPerHostPerSec,
      maxParallelDials: limits.pendingOutbound,
      maxDialQueueLength: 100,
      dialTimeout: limits.dialMs,
    },
    services: { identify: identify({ protocolPrefix: 'ipfs' }), ping: ping(), pubsub: gossip.service() },
  })
  return node
}

/** Returns the bound TCP port of a host that announces no other one. */
export function boundPort(host: Pick<Host, 'getMultiaddrs'>): number | undefined {
  for (const address of host.getMultiaddrs()) {
    const part = address.getComponents().find(({ name }) => name === 'tcp')
    if (part?.value !== undefined) return Number(part.value)
  }
  return undefined
}

/** Sets or removes the tag that protects a peer. */
export async function setProtected(host: Host, peer: PeerId, isProtected: boolean): Promise<void> {
  await host.peerStore.merge(peer, { tags: { [protectedTag]: isProtected ? { value: 100 } : undefined } })
}
