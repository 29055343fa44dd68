import { parentPort } from 'node:worker_threads'
import { packFlashblock } from '#executionThread/wire/packedBlocks'
import { ThreadLink } from '#lib/threadLink'
import { decodeMessage } from './decode.ts'
import type { OfDecodeThread, PackedDecoded } from './decodeThread.ts'

function decode(message: Uint8Array): PackedDecoded {
  const decoded = decodeMessage(message)
  if (decoded.kind === 'bad') return decoded
  return { kind: 'flashblock', flashblock: packFlashblock(decoded.flashblock) }
}

const link = new ThreadLink<object, OfDecodeThread>({
  post: (message): void => parentPort?.postMessage(message),
  here: { decode },
  onFailure() {},
})
parentPort?.on('message', (message) => link.receive(message))
