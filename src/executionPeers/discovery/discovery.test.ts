import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { ForkId } from '#chainspec/forkId'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { publicKeyOf } from '#lib/secp256k1'
import { until } from '#test/harness/executionPeers/nodes'
import { addressOfRecord, enodeOf, idOfKey, type NodeAddress, parseNode } from '../net/nodeId.ts'
import { createPrivateKey } from '../rlpx/ecies.ts'
import { Discovery } from './discovery.ts'
import { decodePacket, encodePacket, type Message } from './packets.ts'
import { createRecord, decodeRecord, forkIdsOf } from './record.ts'

const { discovery: vectors, staticKeyB } = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/eip8.json', import.meta.url), 'utf8'),
) as { readonly discovery: Record<string, string>; readonly staticKeyB: string }
const key = fromHex(`0x${staticKeyB}`)

const expires = 1_136_239_445
it.each([
  ['ping4', { kind: 'ping', from: { ip: '127.0.0.1', udpPort: 3_322, tcpPort: 5_544 }, expires, enrSequence: 1 }],
  ['ping555', { kind: 'ping', from: { ip: '2001:db8:3c4d:15:0:0:abcd:ef12', udpPort: 3_322, tcpPort: 5_544 }, expires: 1_136_239_445 }],
  ['pong', { kind: 'pong', to: { ip: '2001:db8:85a3:8d3:1319:8a2e:370:7348', udpPort: 2_222, tcpPort: 33_338 }, expires }],
  ['findnode', { kind: 'findNode', expires }],
  ['neighbours', { kind: 'neighbours', expires }],
])('executionPeers/discovery/packets: reads the packet %s of EIP-8', (name, expected) => {
  const packet = fromHex(`0x${vectors[name]}`)
  const { message, publicKey } = decodePacket(packet)
  expect(message).toMatchObject(expected)
  expect(toHex(publicKey)).toBe(toHex(publicKeyOf(key)))
  if (message.kind === 'neighbours')
    expect(message.nodes.map(({ ip, udpPort, tcpPort }) => [ip, udpPort, tcpPort])).toEqual([
      ['99.33.22.55', 4_444, 4_445],
      ['1.2.3.4', 1, 1],
      ['2001:db8:3c4d:15:0:0:abcd:ef12', 3_333, 3_333],
      ['2001:db8:85a3:8d3:1319:8a2e:370:7348', 999, 1_000],
    ])
  // another byte anywhere
  for (const at of [0, 40, 96, 97, 120]) {
    const changed = packet.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(() => decodePacket(changed)).toThrow()
  }
})

it('executionPeers/discovery/packets: reads what it wrote, and refuses long, short and unknown packets', () => {
  const messages: readonly Message[] = [
    { kind: 'enrRequest', expires },
    { kind: 'neighbours', nodes: [{ ip: '192.0.2.1', udpPort: 1, tcpPort: 2, publicKey: publicKeyOf(key) }], expires },
  ]
  for (const message of messages) expect(decodePacket(encodePacket(key, message).packet).message).toEqual(message)
  expect(() => decodePacket(new Uint8Array(1_281))).toThrow('packet of 1281 bytes')
  expect(() => decodePacket(new Uint8Array(97))).toThrow('packet of 97 bytes')
})

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

it('executionPeers/discovery: nodes find each other through one bootnode; nodes of another chain are not reported', async () => {
  await using parts = new AsyncDisposableStack()
  const start = async (isOurs: boolean, bootnodes: readonly NodeAddress[]) => {
    const privateKey = createPrivateKey()
    const found = new Set<string>()
    const discovery = new Discovery(
      {
        ...{ clock: { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / 25, run) }, log: silentLog },
        forkId: () => (isOurs ? forkId : { hash: '0x00000001', next: 0 }),
        isOfChain: ({ hash }) => hash === forkId.hash,
        onNode: (node) => found.add(node.id),
      },
      { privateKey, host: '127.0.0.1', port: 0, tcpPort: 1_000, bootnodes },
    )
    await discovery.start()
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
  await until(() => stranger.discovery.size >= 4, 'the stranger answers')
  // four nodes report the address of this one
  await until(() => boot.discovery.ownHost === '127.0.0.1', 'own address')
})
