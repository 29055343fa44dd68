import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import { exchange, failureReason, type Received, readBody, requestJson, type Send } from '#lib/jsonHttp'
import { type MetricValues, parseMetrics } from '#monitor/metricText'
import type { CallAnswer, Reached, ReadyPage } from '#monitor/readings'
import { answersInOrder, readRpcAnswer, rpcRequest } from '#types/jsonRpc'
import { listOf, objectOf, ShapeError } from '#types/jsonShape'
import { cliFault } from '../faults.ts'

export type NodeClientDeps = {
  readonly fetch: Send
  readonly clock: Clock
  readonly signal: AbortSignal
  /** wait for the answer to a call; default: 5 s */
  readonly timeoutMs?: number
}

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

const defaultTimeoutMs = 5_000
/** Largest answer that is read: a block of full transactions, or a few thousand logs. */
const maxBodyBytes = 64_000_000
const maxPageBytes = 8_000_000
/** Most reasons of a health page that are read, and their length. */
const maxProblems = 50
const maxProblemChars = 1_000

/** A running node, accessed by its public endpoints only. */
export class NodeClient {
  readonly #deps: NodeClientDeps
  /** JSON-RPC */
  readonly #rpc: Endpoint

  constructor(deps: NodeClientDeps, rpc: Endpoint) {
    this.#deps = deps
    this.#rpc = rpc
  }

  /** host and port, without credentials */
  get name(): string {
    return this.#rpc.name
  }

  /** Sends calls in one batch. @returns their answers in order, or why there is none */
  async batch(calls: readonly RpcCall[]): Promise<Reached<readonly CallAnswer[]>> {
    const { url, headers } = this.#rpc
    const { timeoutMs = defaultTimeoutMs } = this.#deps
    const body = calls.map((call, id) => rpcRequest(call, id))
    const outcome = await requestJson(this.#deps, { timeoutMs, maxBodyBytes }, { url, headers, body }, this.#deps.signal)
    if (outcome.kind !== 'answer') return { kind: 'silent', reason: failureReason(outcome) }
    try {
      const answers = answersInOrder(listOf(outcome.json, 'the answer to a batch'), calls.length)
      return { kind: 'reached', value: answers.map(answerOf) }
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      return { kind: 'silent', reason: `HTTP ${outcome.status}, no JSON-RPC: ${error.message}` }
    }
  }

  /**
   * Sends one call.
   * @throws Fault NODE_SILENT without an answer; NODE_REFUSED with an error (fatal)
   */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const [result] = await this.calls([{ method, params }])
    return result
  }

  /**
   * Sends calls in one batch, all of which must have a result.
   * @throws Fault NODE_SILENT without an answer; NODE_REFUSED with an error (fatal)
   */
  async calls(calls: readonly RpcCall[]): Promise<readonly unknown[]> {
    const reached = await this.batch(calls)
    if (reached.kind === 'silent') throw cliFault('NODE_SILENT', { name: this.name, reason: reached.reason })
    return reached.value.map((answer, at) => {
      if (answer.kind === 'result') return answer.result
      const reason = answer.kind === 'error' ? `${answer.message} (${answer.code})` : answer.reason
      throw cliFault('NODE_REFUSED', { name: this.name, method: calls[at]?.method ?? '', reason })
    })
  }
}

function answerOf(answer: unknown): CallAnswer {
  try {
    return readRpcAnswer(answer)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return { kind: 'none', reason: error.message }
  }
}

/** Reads a page of a node as text, whatever its status. */
async function readPage(deps: NodeClientDeps, { url, headers }: Endpoint): Promise<Reached<{ status: number; text: string }>> {
  const read = async (response: Received): Promise<Reached<{ status: number; text: string }>> => {
    const { bytes, isWhole } = await readBody(response, maxPageBytes)
    if (!isWhole) return { kind: 'silent', reason: `more than ${maxPageBytes} bytes` }
    return { kind: 'reached', value: { status: response.status, text: Buffer.from(bytes).toString('utf8') } }
  }
  const page = await exchange(deps, deps.timeoutMs ?? defaultTimeoutMs, { url, headers }, read, deps.signal)
  return page.kind === 'unreachable' ? { kind: 'silent', reason: page.reason } : page
}

/** Reads `/readyz`. */
export async function readReady(deps: NodeClientDeps, endpoint: Endpoint): Promise<Reached<ReadyPage>> {
  const page = await readPage(deps, endpoint)
  if (page.kind === 'silent') return page
  try {
    const { ready, problems = [], state } = objectOf(JSON.parse(page.value.text), 'the page')
    if (typeof ready !== 'boolean') throw new ShapeError('no field ready')
    const texts = listOf(problems, 'problems').slice(0, maxProblems)
    const shown = typeof state === 'string' ? { state: state.slice(0, maxProblemChars) } : {}
    return { kind: 'reached', value: { ready, problems: texts.map((text) => String(text).slice(0, maxProblemChars)), ...shown } }
  } catch {
    return { kind: 'silent', reason: `HTTP ${page.value.status}, no health page of a node` }
  }
}

/** Reads `/metrics`. */
export async function readMetrics(deps: NodeClientDeps, endpoint: Endpoint): Promise<Reached<MetricValues>> {
  const page = await readPage(deps, endpoint)
  if (page.kind === 'silent') return page
  const { status, text } = page.value
  return status === 200 ? { kind: 'reached', value: parseMetrics(text) } : { kind: 'silent', reason: `HTTP ${status}` }
}
