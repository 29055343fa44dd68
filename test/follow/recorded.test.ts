import { describe, expect, it, vi } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import { followUrl, serveExecution } from '#test/harness/consensus/followNodes'
import { decodeBlock } from '#types/block'

const read = (name: RecordedChainName) => {
  const { config, genesis, blocks } = readRecordedChain(name)
  return { config, genesis, payloads: blocks.map(({ raw, hash }) => payloadOfBlock(decodeBlock(raw), hash)) }
}

const names: readonly RecordedChainName[] = ['op-ecotone-to-jovian', 'op-bedrock-to-holocene']

describe.each(names)('consensus/follow: %s', (name) => {
  const { config, genesis, payloads } = read(name)
  const half = payloads.length >> 1
  const last = payloads.at(-1) ?? expect.fail()

  it.each(['over HTTP', 'over WebSocket'])(
    'follows a node %s with the same heads, and executes every block once',
    { timeout: 120_000 },
    async (how) => {
      await using a = await serveExecution({ config, genesis })
      await a.extend(payloads.slice(1, half), { safe: payloads[half - 5] ?? last, finalized: payloads[10] ?? last })
      const url = how === 'over HTTP' ? a.httpUrl : `${a.httpUrl},${a.wsUrl}`
      await using b = followUrl({ config, genesis }, url, how === 'over HTTP' ? 20 : 60_000)
      await b.reached(payloads[half - 1]?.blockHash ?? '')
      await vi.waitFor(async () => expect((await b.execution.heads()).safe.number).toBe(half - 5))
      await vi.waitFor(async () => expect((await b.execution.heads()).finalized.number).toBe(10))
      if (how === 'over WebSocket') await vi.waitFor(() => expect(b.source.transport).toBe('websocket'))
      for (const payload of payloads.slice(half)) {
        await a.extend([payload])
        await b.reached(payload.blockHash)
      }
      expect(b.executed.map(({ hash }) => hash)).toEqual(payloads.slice(1).map(({ blockHash }) => blockHash))
      await vi.waitFor(() => expect(b.consensus.status()).toMatchObject({ labels: 'source', heads: { unsafe: { hash: last.blockHash } } }))
      await vi.waitFor(() => expect(b.follower.status()).toMatchObject({ labels: 'source', phase: 'following' }))
    },
  )
})
