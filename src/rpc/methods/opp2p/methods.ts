import type { DenyKind, PeerNetwork } from '#types/peer'
import { flag, noResult, resultList, text } from '../../codecs/values.ts'
import type { AdminContext, RollupContext } from '../../context.ts'
import { invalidInput, methodNotFound } from '../../errors.ts'
import { type Method, param } from '../../registry.ts'
import { adminMethod, rollupMethod } from '../define.ts'
import { peerCountResult, peerResult, peerStatsResult, peersResult } from './results.ts'

/** @throws RpcError −32601 on a node without peers */
function networkOf({ peers }: RollupContext): PeerNetwork {
  if (peers === undefined) throw methodNotFound()
  return peers
}

/** @throws RpcError −32000 with the reason of a refusal */
async function done(run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    throw invalidInput(error instanceof Error ? error.message : String(error))
  }
}

const reads: readonly Method<RollupContext>[] = [
  rollupMethod({
    name: 'opp2p_self',
    doc: 'This node as a peer of the consensus network.',
    params: [],
    result: peerResult,
    cost: 'instant',
    example: { params: [] },
    run: async (context) => ({ chainId: context.rollup.config.l2ChainId, value: await networkOf(context).self() }),
  }),
  rollupMethod({
    name: 'opp2p_peers',
    doc: 'Peers of this node: the connected ones, or all known ones.',
    params: [param('connected', flag)],
    result: peersResult,
    cost: 'instant',
    example: { params: [true] },
    run: async (context, connected) => ({
      chainId: context.rollup.config.l2ChainId,
      value: await networkOf(context).peers(connected),
    }),
  }),
  rollupMethod({
    name: 'opp2p_peerStats',
    doc: 'Numbers of peers by kind.',
    params: [],
    result: peerStatsResult,
    cost: 'instant',
    example: { params: [] },
    run: (context) => networkOf(context).peerStats(),
  }),
  rollupMethod({
    name: 'opp2p_peerCount',
    doc: 'Numbers of discovered nodes and of connected peers.',
    params: [],
    result: peerCountResult,
    cost: 'instant',
    example: { params: [] },
    run: (context) => networkOf(context).peerStats(),
  }),
  rollupMethod({
    name: 'opp2p_discoveryTable',
    doc: "Records of the nodes in discovery's routing table.",
    params: [],
    result: resultList(text),
    cost: 'instant',
    example: { params: [] },
    run: (context) => networkOf(context).discoveryTable(),
  }),
]

const peerId = '16Uiu2HAmGmcgGv2xrqmt2Uzhs6o8oThZXcwLuWc82MQDw7jEtHtr'

type Denial = { readonly kind: DenyKind; readonly word: string; readonly doc: string; readonly example: string }
const denials: readonly Denial[] = [
  { kind: 'peer', word: 'Peer', doc: 'a peer, by its id', example: peerId },
  { kind: 'address', word: 'Addr', doc: 'an IP address', example: '192.0.2.1' },
  { kind: 'subnet', word: 'Subnet', doc: 'a subnet, as ADDRESS/BITS', example: '192.0.2.0/24' },
]

const blocking = ({ kind, word, doc, example }: Denial, isDenied: boolean): Method<AdminContext> =>
  adminMethod({
    name: `opp2p_${isDenied ? 'block' : 'unblock'}${word}`,
    doc: isDenied ? `Denies connections with ${doc}, and closes open ones. Kept in memory only.` : `Allows connections with ${doc} again.`,
    params: [param(word.toLowerCase(), text)],
    result: noResult('null'),
    cost: 'instant',
    example: { params: [example], result: null },
    run: (context, what) => done(() => networkOf(context).deny(kind, what, isDenied)),
  })

const listing = ({ kind, word, doc }: Denial): Method<RollupContext> =>
  rollupMethod({
    name: `opp2p_listBlocked${word}s`,
    doc: `Denied entries that each name ${doc}.`,
    params: [],
    result: resultList(text),
    cost: 'instant',
    example: { params: [], result: [] },
    run: (context) => networkOf(context).denied(kind),
  })

const connections: readonly Method<AdminContext>[] = [
  adminMethod({
    name: 'opp2p_connectPeer',
    doc: 'Connects to a peer: a multiaddr with a peer id, an ENR or an enode URL. Waits up to ten seconds.',
    params: [param('address', text)],
    result: noResult('null'),
    cost: 'execution',
    example: { params: [`/ip4/192.0.2.1/tcp/9222/p2p/${peerId}`], result: null },
    run: (context, address) => done(() => networkOf(context).connect(address)),
  }),
  adminMethod({
    name: 'opp2p_disconnectPeer',
    doc: 'Closes the connections with a peer.',
    params: [param('peer', text)],
    result: noResult('null'),
    cost: 'execution',
    example: { params: [peerId], result: null },
    run: (context, peer) => done(() => networkOf(context).disconnect(peer)),
  }),
  adminMethod({
    name: 'opp2p_protectPeer',
    doc: 'Keeps the connection with a peer when connections are closed for lack of room.',
    params: [param('peer', text)],
    result: noResult('null'),
    cost: 'instant',
    example: { params: [peerId], result: null },
    run: (context, peer) => done(() => networkOf(context).protect(peer, true)),
  }),
  adminMethod({
    name: 'opp2p_unprotectPeer',
    doc: 'Ends the protection of a peer.',
    params: [param('peer', text)],
    result: noResult('null'),
    cost: 'instant',
    example: { params: [peerId], result: null },
    run: (context, peer) => done(() => networkOf(context).protect(peer, false)),
  }),
]

/** `opp2p_*` methods that read. */
export const peerMethods: readonly Method<RollupContext>[] = [...reads, ...denials.map(listing)]

/** `opp2p_*` methods that change the node; served with the operator's methods only. */
export const peerAdminMethods: readonly Method<AdminContext>[] = [
  ...denials.flatMap((denial) => [blocking(denial, true), blocking(denial, false)]),
  ...connections,
]
