import { ENR } from '@chainsafe/enr'
import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import type { DenyKind, PeerFacts, PeerStats, PeersFacts } from '#types/peer'
import type { OfP2pThread } from '../thread/protocol.ts'
import { protectedTag, setProtected } from './host.ts'
import type { P2pNode } from './p2pNode.ts'
import { parsePeer } from './peerAddress.ts'

type OperatorCalls = Pick<
  OfP2pThread,
  'self' | 'peers' | 'peerStats' | 'discoveryTable' | 'deny' | 'denied' | 'connect' | 'disconnect' | 'protect'
>

const connectMs = 10_000

/** Returns the discv5 node id of a record; empty without one. */
function nodeIdOf(enr: string | undefined): string {
  if (!enr) return ''
  try {
    return ENR.decodeTxt(enr).nodeId
  } catch {
    return ''
  }
}

/** Calls of `opp2p_*` over a running node. */
export function operatorCalls(node: P2pNode): OperatorCalls {
  const { host, gossip, denied, identities, book } = node

  async function factsOf(id: string): Promise<PeerFacts> {
    const peer = peerIdFromString(id)
    const [connection] = host.getConnections(peer)
    const known = book.get(id)
    const identity = identities.get(id)
    const record = await host.peerStore.get(peer).catch(() => undefined)
    return {
      peerId: id,
      nodeId: nodeIdOf(known?.enr),
      agent: identity?.agent ?? '',
      protocolVersion: identity?.protocolVersion ?? '',
      enr: known?.enr ?? '',
      addresses: known ? [known.address] : connection ? [connection.remoteAddr.toString()] : [],
      protocols: identity?.protocols ?? [],
      isConnected: connection !== undefined,
      direction: connection?.direction ?? 'unknown',
      isProtected: record?.tags.has(protectedTag) ?? false,
      latencyMs: connection?.rtt ?? 0,
      gossipBlocks: gossip.subscribers().some((peers) => peers.some((other) => other.toString() === id)),
      score: gossip.score(id),
    }
  }

  return {
    self(): PeerFacts {
      const id = host.peerId.toString()
      return {
        peerId: id,
        nodeId: node.discovery?.nodeId ?? nodeIdOf(node.enr),
        agent: node.settings.agent,
        protocolVersion: '',
        enr: node.enr,
        addresses: host.getMultiaddrs().map((address) => address.toString()),
        protocols: host.getProtocols(),
        isConnected: false,
        direction: 'unknown',
        isProtected: false,
        latencyMs: 0,
        gossipBlocks: true,
        score: 0,
      }
    },
    async peers(connectedOnly): Promise<PeersFacts> {
      const connected = host.getPeers().map((peer) => peer.toString())
      const ids = connectedOnly ? connected : [...new Set([...connected, ...book.all().map(({ peerId }) => peerId)])]
      return {
        peers: await Promise.all(ids.map(factsOf)),
        bannedPeers: denied.deniedPeers(),
        bannedAddresses: denied.entries('address'),
        bannedSubnets: denied.entries('subnet'),
      }
    },
    peerStats: (): PeerStats => ({
      connected: host.getPeers().length,
      table: node.discovery?.size ?? 0,
      topics: gossip.subscribers().map(({ length }) => length),
      banned: denied.deniedPeers().length,
      known: book.size,
    }),
    discoveryTable: () => node.discovery?.table() ?? [],
    async deny(kind: DenyKind, what: string, isDenied: boolean): Promise<readonly string[]> {
      denied.set(kind, what, isDenied)
      if (isDenied) await node.closeDenied()
      return denied.entries(kind)
    },
    denied: (kind) => (kind === 'peer' ? denied.deniedPeers() : denied.entries(kind)),
    async connect(text): Promise<void> {
      const { peerId, address, enr } = parsePeer(text)
      book.found(peerId, address.toString(), enr)
      await host.dial(multiaddr(address.toString()), { signal: AbortSignal.timeout(connectMs) })
    },
    async disconnect(peerId): Promise<void> {
      await host.hangUp(peerIdFromString(peerId), { signal: AbortSignal.timeout(connectMs) })
    },
    async protect(peerId, isProtected): Promise<void> {
      await setProtected(host, peerIdFromString(peerId), isProtected)
    },
  }
}
