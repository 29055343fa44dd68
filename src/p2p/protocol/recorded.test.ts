import { describe, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { zerosBlock } from '#test/harness/p2p/attacker'
import { checkMessage, checkRequest } from '#test/harness/p2p/checkRecording'
import { readPeerSample } from '#test/harness/p2p/recordings'
import { type Address, addressFromBytes, type Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { encodeBody, joinEnvelope, signingHash } from './envelope.ts'
import { ignoreReasons, isTooOld, judgeBlock, rejectReasons } from './judgeBlock.ts'
import { decompressMessage, maxMessageBytes, messageId } from './messageId.ts'
import { SeenBlocks } from './seenBlocks.ts'
import { type BlockVersion, blocksTopic, versionOfTopic } from './topics.ts'

const recordings = readPeerSample()

describe.each(recordings)('$client', (recording) => {
  it('p2p/protocol: reads recorded messages, computes their ids, recovers their signer, and encodes the same bodies', () => {
    for (const message of recording.messages) checkMessage(recording, message)
  })

  it('p2p/protocol: reads recorded responses of payload_by_number', () => {
    for (const request of recording.requests) checkRequest(recording, request)
  })
})

const key = keccak256(Uint8Array.of(1))
const signer = addressFromBytes(addressOfKey(key))
const [first] = recordings
const last = first?.messages.at(-1)
if (first === undefined || last === undefined) throw new Error('empty sample')
const { config, chainId } = first
const version = versionOfTopic(chainId, last.topic) ?? 0
const message = decompressMessage(last.data) ?? new Uint8Array(0)
const nowMs = last.timestamp * 1_000
const rules = { config, signer: first.signer as Address | undefined, nowMs, seen: new SeenBlocks() }

function payloadOf(): Payload {
  const verdict = judgeBlock(rules, version, message)
  if (verdict.kind !== 'accept') throw new Error(verdict.reason)
  return verdict.payload
}

/** Signs a body with our own key, as a sequencer with other rules would. */
function signed(payload: Payload, layout: BlockVersion = version): Uint8Array {
  const body = encodeBody(payload, layout)
  return joinEnvelope(signDigest(signingHash(chainId, body), key), body)
}

const ours = { ...rules, signer }

it.each([
  ['does not decompress', 'reject', 'compression', rules, undefined],
  ['is shorter than a payload', 'reject', 'size', rules, message.subarray(0, 400)],
  ['is six seconds ahead of the clock', 'reject', 'timestamp_future', { ...rules, nowMs: nowMs - 6_000 }, message],
  ['is 61 seconds old', 'reject', 'timestamp_past', { ...rules, nowMs: nowMs + 61_000 }, message],
  ['comes before the signer is known', 'ignore', 'no_signer', { ...rules, signer: undefined }, message],
  ['has an invalid recovery id', 'reject', 'invalid_signature', rules, message.with(64, 2)],
  ['has a changed byte', 'reject', 'invalid_signer', rules, message.with(600, (message[600] ?? 0) ^ 1)],
  ['is signed for another chain', 'reject', 'invalid_signer', { ...rules, config: { ...config, l2ChainId: 10 } }, message],
  ['is signed by another key', 'reject', 'invalid_signer', rules, signed(payloadOf())],
  ['has the layout of another fork', 'ignore', 'topic_version', ours, { payload: payloadOf(), layout: 2 as const }],
  ['is off the lattice of block times', 'ignore', 'off_lattice', ours, signed({ ...payloadOf(), timestamp: last.timestamp + 1 })],
  ['has another hash', 'reject', 'invalid_hash', ours, signed({ ...payloadOf(), gasUsed: 1n })],
] as const)('p2p/protocol/judgeBlock: a message that %s: %s %s', (_, kind, reason, given, bytes) => {
  const [layout, data] = bytes && 'layout' in bytes ? [bytes.layout, signed(bytes.payload, bytes.layout)] : [version, bytes]
  expect(judgeBlock(given, layout, data)).toEqual({ kind, reason })
})

it('p2p/protocol/judgeBlock: both ends of the time window are inside', () => {
  for (const offsetMs of [-5_000, 60_999]) expect(judgeBlock({ ...rules, nowMs: nowMs + offsetMs }, version, message).kind).toBe('accept')
})

it('p2p/protocol/judgeBlock: a block of 61 seconds is too old to publish, as it is for peers', () => {
  expect([isTooOld(1_000, 1_060_999), isTooOld(1_000, 1_061_000)]).toEqual([false, true])
})

it('p2p/protocol/judgeBlock: rejects a signed payload with malformed offsets', () => {
  const body = encodeBody(payloadOf(), version)
  body[32 + 436] = 0xff
  expect(judgeBlock(ours, version, joinEnvelope(signDigest(signingHash(chainId, body), key), body))).toEqual({
    kind: 'reject',
    reason: 'invalid_block',
  })
})

it('p2p/protocol/judgeBlock: ignores a block that is seen, and rejects the block after six of one height', () => {
  const seen = new SeenBlocks()
  const { blockNumber, blockHash } = payloadOf()
  seen.add(blockNumber, blockHash)
  expect(judgeBlock({ ...rules, seen }, version, message)).toEqual({ kind: 'ignore', reason: 'block_seen' })
  const others = new SeenBlocks()
  for (let i = 0; i < 5; i++) others.add(blockNumber, `0x${`${i}`.repeat(64)}` as Hash)
  expect(judgeBlock({ ...rules, seen: others }, version, message).kind).toBe('accept')
  others.add(blockNumber, `0x${'9'.repeat(64)}` as Hash)
  expect(judgeBlock({ ...rules, seen: others }, version, message)).toEqual({ kind: 'reject', reason: 'too_many_blocks' })
})

it('p2p/protocol/seenBlocks: keeps the highest 1,000 heights', () => {
  const seen = new SeenBlocks()
  const hash = payloadOf().blockHash
  for (let number = 1; number <= 1_001; number++) seen.add(number, hash)
  expect([seen.at(1), seen.at(2), seen.at(1_001)]).toEqual([[], [hash], [hash]])
})

it('p2p/protocol/messageId: uses the other domain and the raw bytes for data that does not decompress, or declares more than 10 MiB', () => {
  const topic = blocksTopic(chainId, 3)
  const garbage = fromHex('0xffffffff')
  expect(decompressMessage(garbage)).toBeUndefined()
  expect(messageId(topic, garbage, undefined)).not.toEqual(messageId(topic, garbage, garbage))
  expect(messageId(topic, garbage, undefined)).not.toEqual(messageId(blocksTopic(chainId, 2), garbage, undefined))
  const zeros = zerosBlock(maxMessageBytes)
  expect(decompressMessage(zeros)?.length).toBe(maxMessageBytes)
  expect(decompressMessage(zerosBlock(maxMessageBytes + 1))).toBeUndefined()
})

it('p2p/protocol/judgeBlock: 10 MiB of zeros cost milliseconds and are rejected', () => {
  const zeros = decompressMessage(zerosBlock(maxMessageBytes))
  expect(judgeBlock(rules, version, zeros)).toEqual({ kind: 'reject', reason: 'timestamp_past' })
})

it('p2p/protocol/judgeBlock: no reason is in both lists', () => {
  expect(rejectReasons.filter((reason) => (ignoreReasons as readonly string[]).includes(reason))).toEqual([])
})
