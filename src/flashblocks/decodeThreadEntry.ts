import { parentPort } from 'node:worker_threads'
import { recoverHere } from '#executionThread/senderThreads'
import { packFlashblock } from '#executionThread/wire/packedBlocks'
import { ThreadLink } from '#lib/threadLink'
import { decodeMessage, type FeedMessage } from './decode.ts'
import type { OfDecodeThread, PackedDecoded } from './decodeThread.ts'

/** Maximum senders of a flashblock that this thread recovers, in some five milliseconds: the next message waits for it. */
const maxRecovered = 100
/** Number of flashblocks whose repeats, from other publishers, are not recovered again. */
const remembered = 32
const seen: string[] = []

function isRepeat({ payloadId, index }: FeedMessage): boolean {
  const name = `${payloadId}:${index}`
  if (seen.includes(name)) return true
  if (seen.push(name) > remembered) seen.shift()
  return false
}

function decode(message: Uint8Array): PackedDecoded {
  const decoded = decodeMessage(message)
  if (decoded.kind === 'bad') return decoded
  const flashblock = packFlashblock(decoded.flashblock)
  // begins after the answer, while the flashblock is on its way to execution
  const senders = isRepeat(decoded.flashblock) ? undefined : recoverHere(flashblock.transactions, maxRecovered)
  return { kind: 'flashblock', flashblock: senders ? { ...flashblock, senders } : flashblock }
}

const link = new ThreadLink<object, OfDecodeThread>({
  post: (message): void => parentPort?.postMessage(message),
  here: { decode },
  onFailure() {},
})
parentPort?.on('message', (message) => link.receive(message))
