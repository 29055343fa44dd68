import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleOf } from '#test/harness/sample'
import { judgedNamed } from './judged.ts'
import { replay } from './replay.ts'
import { readVectors } from './vectors.ts'

const fileOf = (name: string) => readVectors(join(import.meta.dirname, '../fixtures/b20', name))

/** The sample replays every sequence on the compiled interpreter, and each third one on the others. */
const strides: Readonly<Record<string, number>> = { wasm: 1, traced: sampleOf(3, 1), reference: sampleOf(3, 1) }

describe.each(['hand.json.zst', 'denim-hand.json.zst'])('b20/vectors: %s', (name) => {
  it.each(Object.entries(strides))('%s agrees in outcome, gas, output, logs, state and root', { timeout: 120_000 }, (evm, stride) => {
    const file = fileOf(name)
    const judged = judgedNamed([evm])
    let sequences = 0
    for (const sequence of file.sequences()) {
      if (sequences++ % stride === 0) expect(judged.flatMap((each) => replay(each, file, sequence) ?? [])).toEqual([])
    }
    expect(sequences).toBeGreaterThan(100)
  })
})
