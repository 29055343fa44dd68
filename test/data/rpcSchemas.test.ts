import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { adminRegistry, engineRegistry, socketRegistry } from '#rpc/methods'
import type { Documented } from '#rpc/reference/openRpc'
import { readExchanges } from '#test/harness/rpc/exchanges'
import { mismatch } from '#test/harness/rpc/schemaJudge'
import { sharedDataDir } from '#test/harness/sharedData'

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

it.each([
  ['op-bedrock-to-holocene', 52],
  ['op-ecotone-to-jovian', 53],
])('rpc/reference/schemas: %s: accepts recorded params and results of other clients, for %i methods', (chainName, count) => {
  const judged = new Set<string>()
  const wrong: string[] = []
  for (const { method, params, outcome } of readExchanges(resolve(sharedDataDir, 'chains', chainName))) {
    const definition = methods.get(method)
    if (definition === undefined || 'error' in outcome) continue
    judged.add(method)
    for (const why of mismatchesOf(definition, params, outcome.result))
      wrong.push(`${method} ${JSON.stringify(params).slice(0, 200)}: ${why}`)
  }
  expect(wrong).toEqual([])
  expect(judged.size).toBe(count)
})
