import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from './json.ts'
import { mismatch, shapeOf } from './jsonForm.ts'

/** Request of the suite with go-ethereum's response. */
export type CompatCase = {
  /** METHOD/NAME.io */
  readonly file: string
  /** Only the form of the response is compared: its values are another client's. */
  readonly isFormOnly: boolean
  readonly request: string
  readonly expected: JsonObject
}

/** Exchanges of a file. Notes before the first request apply to all of them. */
function casesOf(dir: string, file: string): CompatCase[] {
  const lines = readFileSync(join(dir, file), 'utf8').split('\n')
  const isFormOnly = lines.some((line) => line.startsWith('//') && line.includes('speconly:'))
  return lines.flatMap((line, at) => {
    if (!line.startsWith('>> ')) return []
    const answer = lines.slice(at + 1).find((each) => each.startsWith('<< '))
    if (answer === undefined) throw new Error(`${file}: request without a response`)
    return [{ file, isFormOnly, request: line.slice(3), expected: JSON.parse(answer.slice(3)) as JsonObject }]
  })
}

export function readCompatCases(dir: string): CompatCase[] {
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return folders
    .map(({ name }) => name)
    .sort()
    .flatMap((folder) =>
      readdirSync(join(dir, folder))
        .sort()
        .flatMap((name) => casesOf(dir, `${folder}/${name}`)),
    )
}

/** Members that an example has or lacks although the schema makes them optional; with the reason. */
const openMembers: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^result\.logs\.deleteStrategy$/, 'other sections of the response, with the same schema, omit it; data without an expiry has none'],
  [/\.structLogs\.\d+\.returnData$/, 'the request asks for it; go-ethereum omits it when empty, as in the example'],
]
const isOpen = (path: string): boolean => openMembers.some(([pattern]) => pattern.test(path))

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}

/** Returns the path of the first difference between two values. */
function firstDifference(expected: Json | undefined, found: Json | undefined, path: string): string | undefined {
  if (isDeepStrictEqual(expected, found)) return undefined
  const areObjects = [expected, found].every((value) => typeof value === 'object' && value !== null)
  if (!areObjects || Array.isArray(expected) !== Array.isArray(found)) return `${path}: ${short(found)}, ${short(expected)} expected`
  const [a, b] = [expected as Record<string, Json>, found as Record<string, Json>]
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const difference = firstDifference(a[key], b[key], `${path}.${key}`)
    if (difference !== undefined) return difference
  }
  return `${path}: ${short(found)}, ${short(expected)} expected`
}

/**
 * Compares as the suite's own runner does: results must be equal, or of the same form where only that is required; errors must have the same code.
 * @returns the difference, or undefined
 */
export function judgeCompat({ expected, isFormOnly }: CompatCase, answer: JsonObject): string | undefined {
  const { error: wantedError, result: wanted } = expected
  const { error, result } = answer
  if (answer['id'] !== expected['id'] || answer['jsonrpc'] !== '2.0') return 'not a JSON-RPC response to this request'
  if (wantedError !== undefined) {
    if (error === undefined) return `result ${short(result)}, an error expected: ${short(wantedError)}`
    const [code, wantedCode] = [error, wantedError].map((each) => (each as JsonObject)['code'])
    return code === wantedCode ? undefined : `error ${short(error)}, ${short(wantedError)} expected`
  }
  if (error !== undefined) return `error ${short(error)}, a result expected: ${short(wanted)}`
  if (!isFormOnly) return firstDifference(wanted, result, 'result')
  return mismatch(shapeOf(wanted ?? null), result ?? null, 'result', isOpen)
}

/** Sends all requests in order, over HTTP. @returns the differences, by file */
export async function runCompatCases(url: string, cases: readonly CompatCase[]): Promise<ReadonlyMap<string, string>> {
  const wrong = new Map<string, string>()
  for (const each of cases) {
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: each.request })
    const problem = judgeCompat(each, (await response.json()) as JsonObject)
    if (problem !== undefined) wrong.set(each.file, problem)
  }
  return wrong
}
