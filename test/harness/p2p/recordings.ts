import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import { fromHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'

/** A gossip message that another client published. */
export type RecordedMessage = {
  readonly topic: string
  readonly data: Uint8Array
  readonly messageId: string
  readonly signature: string
  readonly signingHash: string
  readonly blockNumber: number
  readonly timestamp: number
  readonly blockHash: Hash
}

/** A request of ours and the answer of the other client; `error`: it did not answer. */
export type RecordedRequest = {
  readonly what: string
  readonly protocol: string
  readonly request: Uint8Array
  readonly response?: Uint8Array
}

export type PeerRecording = {
  readonly client: string
  readonly chainId: number
  readonly signer: Address
  readonly config: RollupConfig
  readonly messages: readonly RecordedMessage[]
  readonly requests: readonly RecordedRequest[]
}

type Json = Record<string, unknown>

const bytes = (hex: unknown): Uint8Array => fromHex(`0x${String(hex).replace(/^0x/, '')}`)

export function peerRecordingOf(client: string, { chainId, signer, rollup, messages, requests }: Json): PeerRecording {
  return {
    client,
    chainId: chainId as number,
    signer: (signer as string).toLowerCase() as Address,
    config: parseRollupConfig(rollup).config,
    messages: (messages as Json[]).map((message) => ({ ...message, data: bytes(message['data']) }) as unknown as RecordedMessage),
    requests: (requests as Json[]).map(
      (request) =>
        ({
          ...request,
          request: bytes(request['request']),
          ...(request['response'] !== undefined && { response: bytes(request['response']) }),
        }) as unknown as RecordedRequest,
    ),
  }
}

/** Reads the committed sample: the last two messages of each topic of each client. */
export function readPeerSample(): readonly PeerRecording[] {
  const file = zstdDecompressSync(readFileSync(resolve(import.meta.dirname, '../../fixtures/p2p.json.zst')))
  return Object.entries(JSON.parse(file.toString()) as Record<string, Json>).map(([client, json]) => peerRecordingOf(client, json))
}
