import { expect, it } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { openDenimChain } from '#test/harness/rpc/denimChain'
import { createEthContext } from './ethContext.ts'
import { createHeadFeed } from './headFeed.ts'

it('node/serving/ethContext: traces and logs end at the bound of one answer', async () => {
  const { config, execution, grow } = openDenimChain()
  const { blockHash } = await grow()
  const contextWith = (maxAnswerBytes: number | undefined) =>
    createEthContext({
      ...{ execution, config, clock: createManualClock(), version: '0.0.0' },
      ...{ heads: createHeadFeed(() => execution.view()), sync: () => undefined, maxAnswerBytes },
    })
  const traceWith = (maxAnswerBytes: number | undefined) => {
    const { tracing, executor } = contextWith(maxAnswerBytes)
    return tracing.known(blockHash)?.trace(0, { tracer: 'callTracer' }, executor.timer())
  }
  expect(traceWith(undefined)).toMatchObject({ kind: 'traced' })
  expect(traceWith(10)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('larger than 10 bytes') })
  expect(contextWith(10).limits).toMatchObject({ traceBytes: 10, logBytes: 10 })
  expect(contextWith(undefined).limits).toMatchObject({ traceBytes: 128 * 2 ** 20, logBytes: 160_000_000 })
})
