import { publicKeyOf } from '#lib/secp256k1'
import type { ExecutionPeerFacts, ExecutionPeersSelf } from '#types/executionPeer'
import type { ExecutionNode } from './executionNode.ts'
import { enodeOf, hashedId, idOfKey, parseNode } from './nodeId.ts'

export function selfFacts(node: ExecutionNode): ExecutionPeersSelf {
  const { settings, listening, enr, ownHost } = node
  const publicKey = idOfKey(publicKeyOf(settings.identity))
  return {
    ...{ publicKey, id: hashedId(publicKey), client: settings.agent, enode: listening.enode, enr, ip: ownHost },
    tcpPort: listening.tcpPort,
    udpPort: listening.udpPort ?? 0,
    listenAddress: `${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${listening.tcpPort}`,
  }
}

export function peerFacts(node: ExecutionNode): readonly ExecutionPeerFacts[] {
  const { peers, settings, listening } = node
  return peers.ready().map((peer): ExecutionPeerFacts => {
    const { id: publicKey, address, hello, range } = peer
    const tcpPort = peer.direction === 'outbound' ? address.port : (hello?.port ?? 0)
    const host = address.host.startsWith('::ffff:') ? address.host.slice(7) : address.host
    return {
      ...{ publicKey, id: hashedId(publicKey), client: peer.client, direction: peer.direction },
      capabilities: (hello?.capabilities ?? []).map(({ name, version }) => `${name}/${version}`),
      enode: enodeOf({ id: publicKey, host, tcpPort, udpPort: tcpPort }),
      localAddress: `${settings.host}:${listening.tcpPort}`,
      remoteAddress: `${host}:${address.port}`,
      isTrusted: peers.isTrusted(publicKey),
      isStatic: peers.candidates.isNamed(publicKey),
      version: peer.version ?? 0,
      ...(range && { range }),
    }
  })
}

/** Keeps a node connected. @throws SyntaxError when the text names no node */
export function keepNode({ peers }: ExecutionNode, text: string, isTrusted: boolean): void {
  const address = parseNode(text)
  if (isTrusted) peers.trust(address.id, true)
  peers.keep(address)
}

/** Ends the connection with a node, or only its trust. @throws SyntaxError when the text names no node */
export function dropNode({ peers }: ExecutionNode, text: string, from: 'peers' | 'trusted'): void {
  const { id } = parseNode(text)
  peers.trust(id, false)
  if (from === 'peers') peers.remove(id)
}
