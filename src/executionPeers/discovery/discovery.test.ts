import { expect, it } from 'vitest'
import type { ForkId } from '#chainspec/forkId'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { publicKeyOf } from '#lib/secp256k1'
import { until } from '#test/harness/executionPeers/nodes'
import { addressOfRecord, enodeOf, idOfKey, type NodeAddress, parseNode } from '../net/nodeId.ts'
import { createPrivateKey } from '../rlpx/ecies.ts'
import { baseProtocol, Discovery, discoveryVersions } from './discovery.ts'
import { createRecord, decodeRecord, forkIdsOf } from './record.ts'

const key = new Uint8Array(32).fill(7)
const forkId: ForkId = { hash: '0x169d85a3', next: 1_800_000_000 }

it('executionPeers/discovery/record: another library verifies the record of this node and reads its fork id', () => {
  const { bytes, text } = createRecord(key, { sequence: 7, host: '192.0.2.9', tcpPort: 30_303, udpPort: 30_304, forkId })
  const record = decodeRecord(bytes) ?? expect.fail('not read')
  expect(record.seq).toBe(7n)
  expect(addressOfRecord(record)).toEqual({ id: idOfKey(publicKeyOf(key)), host: '192.0.2.9', tcpPort: 30_303, udpPort: 30_304 })
  expect(forkIdsOf(record)).toEqual([forkId, forkId])
  expect(parseNode(text)).toEqual(addressOfRecord(record))
  const changed = bytes.slice()
  changed[20] = (changed[20] ?? 0) ^ 1
  expect(decodeRecord(changed)).toBeUndefined()
})

it.each([
  ['enode://abc@192.0.2.1:30303', 'bytes'],
  [`enode://${'11'.repeat(64)}@192.0.2.1:70000`, 'Invalid URL'],
  ['/ip4/192.0.2.1/tcp/9222/p2p/16Uiu2', 'neither an enode URL'],
  ['enr:abc', ''],
])('executionPeers/net/nodeId: refuses %s', (text, reason) => {
  expect(() => parseNode(text)).toThrow(reason)
})

it('executionPeers/net/nodeId: reads enode URLs with and without a port of discovery', () => {
  const id = idOfKey(publicKeyOf(key))
  for (const url of [`enode://${id}@192.0.2.1:30303`, `enode://${id}@[2001:db8::1]:30303?discport=9200`])
    expect(enodeOf(parseNode(url))).toBe(url)
})

const fast = { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / 25, run) }

it.each(discoveryVersions)(
  'executionPeers/discovery: with %s alone, nodes find each other through one bootnode, and not those of another chain',
  async (version) => {
    await using parts = new AsyncDisposableStack()
    const start = async (isOurs: boolean, bootnodes: readonly NodeAddress[]) => {
      const privateKey = createPrivateKey()
      const found = new Set<string>()
      const discovery = await Discovery.start(
        {
          ...{ clock: fast, log: silentLog },
          forkId: () => (isOurs ? forkId : { hash: '0x00000001', next: 0 }),
          isOfChain: ({ hash }) => hash === forkId.hash,
          onNode: (node) => found.add(node.id),
        },
        {
          ...{ privateKey, host: '127.0.0.1', port: 0, tcpPort: 1_000, protocol: baseProtocol },
          // nodes are named by their records in v5; the bootnode is reached without one
          ...(bootnodes.length > 0 && { advertisedHost: '127.0.0.1' }),
          bootnodes: { v4: [], v5: [], [version]: bootnodes },
        },
      )
      parts.defer(() => discovery.stop())
      const id = idOfKey(publicKeyOf(privateKey))
      return { id, found, discovery, address: { id, host: '127.0.0.1', udpPort: discovery.port, tcpPort: 1_000 } }
    }
    const boot = await start(true, [])
    const nodes = [await start(true, [boot.address]), await start(true, [boot.address]), await start(true, [boot.address])]
    const stranger = await start(false, [boot.address])
    const ids = new Set([boot, ...nodes].map(({ id }) => id))
    for (const { id, found } of nodes) await until(() => [...ids].every((other) => other === id || found.has(other)), 'all nodes found')
    expect(nodes.every(({ found }) => !found.has(stranger.id))).toBe(true)
    await until(() => stranger.discovery.sizes[version] >= 4, 'the stranger answers')
    // four nodes report the address of this one
    await until(() => boot.discovery.ownHost === '127.0.0.1', 'own address')
    expect(stranger.discovery.sizes[version === 'v4' ? 'v5' : 'v4']).toBe(0)
  },
)
