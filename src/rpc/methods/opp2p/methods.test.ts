import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import type { PeerFacts, PeerNetwork } from '#types/peer'
import { peerAdminMethods, peerMethods } from './methods.ts'

const chainId = 8_453
const context = { ...fakeContext(fakeChain([[], []])), rollup: { config: { l2ChainId: chainId } } }
const methods = new Map([...peerMethods, ...peerAdminMethods].map((method) => [method.name, method]))
const ask = async (over: object, method: string, ...params: readonly unknown[]): Promise<unknown> =>
  methods.get(method)?.call({ ...context, ...over } as never, params)

const peer = (peerId: string, change: Partial<PeerFacts> = {}): PeerFacts => ({
  ...{
    peerId,
    nodeId: 'aa',
    agent: 'op-node',
    protocolVersion: '',
    enr: 'enr:x',
    addresses: ['/ip4/192.0.2.1/tcp/9222'],
    protocols: ['/noise'],
  },
  ...{ isConnected: true, direction: 'inbound', isProtected: false, latencyMs: 1.5, gossipBlocks: true, score: -3 },
  ...change,
})

const calls: unknown[] = []
const changing =
  (name: string) =>
  async (...of: readonly unknown[]): Promise<void> => {
    if (of.includes('nonsense')) throw new RangeError('not an address')
    calls.push([name, ...of])
  }
const peers: PeerNetwork = {
  self: async () => peer('self', { nodeId: '', direction: 'unknown' }),
  peers: async (connectedOnly) => ({
    peers: [peer('one'), ...(connectedOnly ? [] : [peer('two', { isConnected: false, direction: 'outbound' })])],
    ...{ bannedPeers: ['three'], bannedAddresses: ['192.0.2.3'], bannedSubnets: ['198.51.100.0/24'] },
  }),
  peerStats: async () => ({ connected: 2, table: 5, topics: [1, 2, 3, 4], banned: 6, known: 7 }),
  discoveryTable: async () => ['enr:x', 'enr:y'],
  denied: async (kind) => [kind],
  deny: changing('deny'),
  connect: changing('connect'),
  disconnect: changing('disconnect'),
  protect: changing('protect'),
}

it("rpc/methods/opp2p: this node and its peers are in op-node's format", async () => {
  expect(await ask({ peers }, 'opp2p_self')).toMatchObject({ peerID: 'self', nodeID: '', ENR: 'enr:x', direction: 0, chainID: chainId })
  const one = {
    ...{ peerID: 'one', nodeID: '0xaa', userAgent: 'op-node', ENR: 'enr:x', addresses: ['/ip4/192.0.2.1/tcp/9222'], protocols: ['/noise'] },
    ...{ connectedness: 1, direction: 1, protected: false, chainID: chainId, latency: 1_500_000, gossipBlocks: true },
    scores: { gossip: { total: -3 } },
  }
  const banned = { bannedPeers: ['three'], bannedIPS: ['192.0.2.3'], bannedSubnets: ['198.51.100.0/24'] }
  expect(await ask({ peers }, 'opp2p_peers', true)).toMatchObject({ totalConnected: 1, peers: { one }, ...banned })
  expect(await ask({ peers }, 'opp2p_peers', false)).toMatchObject({
    totalConnected: 1,
    peers: { one, two: { connectedness: 0, direction: 2 } },
  })
})

it('rpc/methods/opp2p: counts of peers, the routing table and denied entries', async () => {
  expect(await ask({ peers }, 'opp2p_peerStats')).toEqual({
    ...{ connected: 2, table: 5, blocksTopic: 1, blocksTopicV2: 2, blocksTopicV3: 3, blocksTopicV4: 4, banned: 6, known: 7 },
  })
  expect(await ask({ peers }, 'opp2p_peerCount')).toEqual({ connectedDiscovery: 5, connectedGossip: 2 })
  expect(await ask({ peers }, 'opp2p_discoveryTable')).toEqual(['enr:x', 'enr:y'])
  const listed = ['Peers', 'Addrs', 'Subnets'].map((what) => ask({ peers }, `opp2p_listBlocked${what}`))
  expect(await Promise.all(listed)).toEqual([['peer'], ['address'], ['subnet']])
})

it.each([
  ['blockPeer', ['deny', 'peer', 'x', true]],
  ['unblockPeer', ['deny', 'peer', 'x', false]],
  ['blockAddr', ['deny', 'address', 'x', true]],
  ['unblockAddr', ['deny', 'address', 'x', false]],
  ['blockSubnet', ['deny', 'subnet', 'x', true]],
  ['unblockSubnet', ['deny', 'subnet', 'x', false]],
  ['connectPeer', ['connect', 'x']],
  ['disconnectPeer', ['disconnect', 'x']],
  ['protectPeer', ['protect', 'x', true]],
  ['unprotectPeer', ['protect', 'x', false]],
])('rpc/methods/opp2p: %s changes the network, and a refusal has its reason (-32000)', async (name, call) => {
  expect(await ask({ peers }, `opp2p_${name}`, 'x')).toBeNull()
  expect(calls.pop()).toEqual(call)
  await expect(ask({ peers }, `opp2p_${name}`, 'nonsense')).rejects.toMatchObject({ code: -32_000, message: 'not an address' })
})

it('rpc/methods/opp2p: a node without peers does not know the methods (-32601)', async () => {
  for (const method of ['opp2p_self', 'opp2p_peerStats', 'opp2p_listBlockedPeers'])
    await expect(ask({}, method)).rejects.toMatchObject({ code: -32_601 })
})
