import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Result of one run of a load generator. */
export type Load = {
  readonly requests: number
  readonly sec: number
  /** size of the responses, heads included */
  readonly bytes: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** broken connections, unsuccessful statuses, time-outs */
  readonly failed: number
  /** errors and nulls among the responses; counted in a run of `check` only */
  readonly wrong: number
  /** one wrong response */
  readonly sample: string
}

export type LoadSpec = {
  readonly url: string
  /** JSON bodies, drawn at random, one after the other on each connection */
  readonly bodies: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** `check`: every response is checked, which costs the generator time */
  readonly way: 'measure' | 'check'
  /** of the draws */
  readonly seed?: number
  /** name of an additional header, with the value 1 */
  readonly header?: string
}

export const perSec = ({ requests, sec }: Load): number => requests / sec

/** `wrk` when it is installed, else our own client. */
export const generator: 'wrk' | 'own' = (() => {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'own' : 'wrk' // `wrk -v` ends with 1
  }
  return 'wrk'
})()

/**
 * Loads a server from a separate process.
 * @param folder for the file of requests
 * @throws Error when the generator fails
 */
export async function runLoad(folder: string, { url, bodies, connections, seconds, way, seed = 1, header = '' }: LoadSpec): Promise<Load> {
  const file = join(folder, 'requests.jsonl')
  writeFileSync(file, bodies.join('\n'))
  const script = join(import.meta.dirname, generator === 'wrk' ? 'wrk.lua' : 'client.ts')
  const wrk = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '--latency',
    '-s',
    script,
    url,
    '--',
    file,
    way,
    String(seed),
    header,
  ]
  const own = [script, url, file, String(connections), String(seconds), way, String(seed), header]
  const child = spawn(generator === 'wrk' ? 'wrk' : process.execPath, generator === 'wrk' ? wrk : own, {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const [code] = await once(child, 'close')
  const line = output.split('\n').find((each) => each.startsWith('{"requests"'))
  if (line === undefined) throw new Error(`${generator} ended with ${code}: ${output}${errors}`)
  return JSON.parse(line) as Load
}
