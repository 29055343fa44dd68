import { ENR, SignableENR } from '@chainsafe/enr'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { publishedPeersOf } from '../networks.ts'
import { addressOfEnr, isOfChain, opstackEntry, parsePeer } from './peerAddress.ts'

/** Recorded from op-node 1.19.6: record, peer id and port of its `opp2p_self`. */
const recorded = {
  enr: 'enr:-J64QCYrALxOELE1olhZZwfcb41Q4ZwFbixMt-O3mMGnWgYoHxIydbP91203Vqb7Ipkx16OqMhaVlS7hcYQN3Sd18h2GAaIEKum4gmlkgnY0gmlwhH8AAAGHb3BzdGFja4T5xgUAiXNlY3AyNTZrMaEDPSFO2YMWU5_UONWhZA154El-YNqxE8xtkr4yTGM4MIeDdGNwgqA-g3VkcIKgPw',
  peerId: '16Uiu2HAmGmcgGv2xrqmt2Uzhs6o8oThZXcwLuWc82MQDw7jEtHtr',
}

it("p2p/net/peerAddress: reads op-node's record as op-node does", () => {
  const { peerId, address } = parsePeer(recorded.enr)
  expect([peerId, address.toString()]).toEqual([recorded.peerId, `/ip4/127.0.0.1/tcp/41022/p2p/${recorded.peerId}`])
  expect(isOfChain(ENR.decodeTxt(recorded.enr), 91_001)).toBe(true)
  expect(isOfChain(ENR.decodeTxt(recorded.enr), 91_002)).toBe(false)
})

it('p2p/net/peerAddress: encodes the opstack entry as the published records have it', () => {
  expect([toHex(opstackEntry(8_453)), toHex(opstackEntry(84_532))]).toEqual(['0x854200', '0xb4940500'])
  for (const chainId of [8_453, 84_532])
    for (const bootnode of publishedPeersOf(chainId)?.bootnodes ?? []) {
      const enr = ENR.decodeTxt(bootnode)
      expect([isOfChain(enr, chainId), enr.tcp, enr.udp]).toEqual([true, 9_222, 9_222])
    }
})

it('p2p/net/peerAddress: an enode URL and a multiaddr name the same peer', () => {
  const key = fromHex(`0x${'11'.repeat(32)}`)
  const record = addressOfEnr(SignableENR.createV4(key, {}).toENR())
  expect(record).toBeUndefined()
  const enode =
    'enode://4f355bdcb7cc0af728ef3cceb9615d90684bb5b2ca5f859ab0f0b704075871aa385b6b1b8ead809ca67454d9683fcf2ba03456d6fe2c4abe2b07f0fbdbb2f1c1@192.0.2.1:30303'
  const { peerId, address } = parsePeer(enode)
  expect(parsePeer(address.toString()).peerId).toBe(peerId)
})

it.each(['', 'x', '/ip4/192.0.2.1/tcp/1', 'enode://00@a:1', 'enr:-x', `/ip4/1.2.3.4/tcp/1/p2p/no`])(
  'p2p/net/peerAddress: refuses %j',
  (text) => {
    expect(() => parsePeer(text)).toThrow()
  },
)
