import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import type { ExecutionPeerNetwork } from '#types/executionPeer'
import { ethRegistry } from '../../methods.ts'

const context = fakeContext(fakeChain([[], []]))
const ask = async (over: object, method: string, ...params: readonly unknown[]): Promise<unknown> =>
  ethRegistry.get(method)?.call({ ...context, ...over }, params)

const calls: unknown[] = []
const refusing = (node: string): void => {
  if (!node.startsWith('enode://')) throw new SyntaxError('neither an enode URL nor an ENR')
}
const peers: ExecutionPeerNetwork = {
  self: async () => ({
    ...{ publicKey: 'aa', id: 'bb', client: 'basalt/v1', enode: 'enode://aa@192.0.2.1:30303', enr: 'enr:x', ip: '192.0.2.1' },
    ...{ tcpPort: 30_303, udpPort: 30_304, listenAddress: '0.0.0.0:30303' },
  }),
  peers: async () => [
    {
      ...{
        publicKey: 'cc',
        id: 'dd',
        client: 'Geth/v1',
        capabilities: ['eth/69'],
        enode: 'enode://cc@192.0.2.2:1',
        localAddress: '0.0.0.0:30303',
      },
      ...{ remoteAddress: '192.0.2.2:40000', direction: 'inbound', isTrusted: false, isStatic: true, version: 69 },
      range: { earliest: 0, latest: 9, latestHash: '0x11' },
    },
  ],
  count: async () => 3,
  isListening: async () => false,
  async keep(node, isTrusted): Promise<void> {
    refusing(node)
    calls.push(['keep', node, isTrusted])
  },
  async drop(node, from): Promise<void> {
    refusing(node)
    calls.push(['drop', node, from])
  },
}

it.each([
  ['admin_addPeer', ['keep', 'enode://x', false]],
  ['admin_addTrustedPeer', ['keep', 'enode://x', true]],
  ['admin_removePeer', ['drop', 'enode://x', 'peers']],
  ['admin_removeTrustedPeer', ['drop', 'enode://x', 'trusted']],
])('rpc/methods/admin: %s changes the peers, and refuses what is no node (-32000)', async (method, call) => {
  expect(await ask({ peers }, method, 'enode://x')).toBe(true)
  expect(calls.pop()).toEqual(call)
  await expect(ask({ peers }, method, 'nonsense')).rejects.toMatchObject({ code: -32_000, message: 'neither an enode URL nor an ENR' })
})

it("rpc/methods/admin: peers and this node are in go-ethereum's format", async () => {
  expect(await ask({ peers }, 'admin_peers')).toEqual([
    {
      ...{ enode: 'enode://cc@192.0.2.2:1', id: 'dd', name: 'Geth/v1', caps: ['eth/69'] },
      network: { localAddress: '0.0.0.0:30303', remoteAddress: '192.0.2.2:40000', inbound: true, trusted: false, static: true },
      protocols: { eth: { version: 69, earliestBlock: 0, latestBlock: 9, latestBlockHash: '0x11' } },
    },
  ])
  expect(await ask({ peers }, 'admin_nodeInfo')).toMatchObject({
    ...{ id: 'bb', name: 'basalt/v1', enode: 'enode://aa@192.0.2.1:30303', enr: 'enr:x', ip: '192.0.2.1' },
    ports: { discovery: 30_304, listener: 30_303 },
  })
})

it('rpc/methods/net: counts execution peers; without them the answers are those that wallets expect', async () => {
  expect([await ask({ peers }, 'net_peerCount'), await ask({ peers }, 'net_listening')]).toEqual(['0x3', false])
  expect([await ask({}, 'net_peerCount'), await ask({}, 'net_listening')]).toEqual(['0x0', true])
  for (const method of ['admin_peers', 'admin_nodeInfo']) await expect(ask({}, method)).rejects.toMatchObject({ code: -32_601 })
  await expect(ask({}, 'admin_addPeer', 'enode://x')).rejects.toMatchObject({ code: -32_601 })
})
