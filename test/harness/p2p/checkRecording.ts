import { expect } from 'vitest'
import { equalBytes } from '../../../src/lib/bytes.ts'
import { toHex } from '../../../src/lib/hex.ts'
import { decodeBody, encodeBody, signerOf, signingHash, splitEnvelope } from '../../../src/p2p/protocol/envelope.ts'
import { judgeBlock } from '../../../src/p2p/protocol/judgeBlock.ts'
import { decompressMessage, messageId } from '../../../src/p2p/protocol/messageId.ts'
import { decodeRequest, decodeResponse, encodeFound } from '../../../src/p2p/protocol/payloadRequest.ts'
import { blockVersionAt, versionOfTopic } from '../../../src/p2p/protocol/topics.ts'
import type { PeerRecording, RecordedMessage, RecordedRequest } from './recordings.ts'

const plain = (hex: string): string => hex.replace(/^0x/, '')

/** Checks that our code reads a message as its sender meant it, and that our encoder makes the same bytes. */
export function checkMessage({ chainId, signer, config }: PeerRecording, recorded: RecordedMessage): void {
  const { topic, data, timestamp, blockNumber, blockHash } = recorded
  const message = decompressMessage(data)
  expect(plain(toHex(messageId(topic, data, message)))).toBe(plain(recorded.messageId))
  const envelope = message && splitEnvelope(message)
  const version = versionOfTopic(chainId, topic)
  if (envelope === undefined || version === undefined) throw new Error(`${topic}: not a block message`)
  expect(version).toBe(blockVersionAt(config.schedule, timestamp))
  expect(plain(toHex(signingHash(chainId, envelope.body)))).toBe(plain(recorded.signingHash))
  expect(signerOf(envelope, chainId)).toBe(signer)
  const verdict = judgeBlock({ config, signer, nowMs: timestamp * 1_000, seen: { at: () => [] } }, version, message)
  expect(verdict).toMatchObject({ kind: 'accept', payload: { blockNumber, timestamp, blockHash } })
  if (verdict.kind === 'accept') expect(equalBytes(encodeBody(verdict.payload, version), envelope.body)).toBe(true)
}

/** Checks a recorded response: found blocks are those of the gossip, and our server encodes a block that our client and theirs decode alike. */
export function checkRequest({ config, messages }: PeerRecording, { what, request, response }: RecordedRequest): void {
  if (response === undefined) return
  const answer = decodeResponse(response)
  const codes = ['found', 'notFound', 'badRequest', 'serverError']
  expect(answer.kind, what).toBe(codes[response[0] ?? 0])
  if (answer.kind !== 'found') return
  const { payload } = answer
  expect(payload.blockNumber).toBe(decodeRequest(request))
  const version = blockVersionAt(config.schedule, payload.timestamp)
  const ours = encodeFound(payload, version)
  expect([...ours.subarray(0, 15)]).toEqual([...response.subarray(0, 15)])
  expect(decodeResponse(ours)).toEqual(answer)
  const gossiped = messages.find(({ blockNumber }) => blockNumber === payload.blockNumber)
  const message = gossiped && decompressMessage(gossiped.data)
  const envelope = message && splitEnvelope(message)
  if (envelope) expect(decodeBody(envelope.body, version)).toEqual({ kind: 'payload', payload })
}
