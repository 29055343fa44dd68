import { expect, it } from 'vitest'
import { adminRegistry, engineRegistry, socketRegistry } from '#rpc/methods'
import type { Documented } from '#rpc/reference/openRpc'
import { recordedChains } from '#test/harness/chain/l2Blocks'
import { readExchanges } from '#test/harness/rpc/exchanges'
import { mismatch } from '#test/harness/rpc/schemaJudge'

const methods = new Map<string, Documented>([...socketRegistry, ...engineRegistry, ...adminRegistry])

/** Violations of a method's schemas by recorded params and a recorded result. */
function mismatchesOf({ params, result }: Documented, asked: readonly unknown[], answer: unknown): readonly string[] {
  const wrongParams = params.flatMap(({ name, codec, fallback }, index) => {
    const value = asked[index]
    const isLeftOut = fallback !== undefined && (value === undefined || value === null)
    const why = isLeftOut ? undefined : mismatch(codec.schema ?? {}, value)
    return why === undefined ? [] : [`${name}: ${why}`]
  })
  const wrongResult = mismatch(result.schema ?? {}, answer)
  return wrongResult === undefined ? wrongParams : [...wrongParams, `result: ${wrongResult}`]
}

/** Recorded methods that this node lacks. */
const lacking = ['debug_accountRange', 'debug_dbGet', 'eth_notAMethod', 'optimism_notAMethod']

it.each(recordedChains)('rpc/reference/schemas: %s: accepts recorded params and results of other clients', (chainName) => {
  const undefinedMethods = new Set<string>()
  const wrong: string[] = []
  for (const { method, params, outcome } of readExchanges(chainName)) {
    const definition = methods.get(method)
    if (definition === undefined) undefinedMethods.add(method)
    if (definition === undefined || 'error' in outcome) continue
    for (const why of mismatchesOf(definition, params, outcome.result))
      wrong.push(`${method} ${JSON.stringify(params).slice(0, 200)}: ${why}`)
  }
  expect(wrong).toEqual([])
  expect([...undefinedMethods].sort()).toEqual(lacking)
})
