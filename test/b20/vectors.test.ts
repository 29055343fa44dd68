import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { judgedNamed } from './judged.ts'
import { replay } from './replay.ts'
import { readVectors } from './vectors.ts'

const fileOf = (name: string) => readVectors(join(import.meta.dirname, '../fixtures/b20', name))

describe.each(['hand.json.zst', 'denim-hand.json.zst'])('b20/vectors: %s', (name) => {
  it.each(['wasm', 'traced', 'reference'])('%s agrees in outcome, gas, output, logs, state and root', { timeout: 120_000 }, (evm) => {
    const file = fileOf(name)
    const judged = judgedNamed([evm])
    let sequences = 0
    for (const sequence of file.sequences()) {
      expect(judged.flatMap((each) => replay(each, file, sequence) ?? [])).toEqual([])
      sequences++
    }
    expect(sequences).toBeGreaterThan(100)
  })
})
