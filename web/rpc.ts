type Answer = { readonly result?: unknown; readonly error?: { readonly message: string } }

const timeoutMs = 10_000

/** Calls methods of the node in one batch. @throws Error with the message of the node, or of the connection */
export async function callAll(calls: readonly (readonly [method: string, ...params: unknown[]])[]): Promise<readonly unknown[]> {
  const body = JSON.stringify(calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params })))
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('/', { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) })
  const answers = (await response.json()) as (Answer & { readonly id: number })[]
  if (!Array.isArray(answers)) throw new Error(`HTTP ${response.status}`)
  return answers
    .toSorted((a, b) => a.id - b.id)
    .map(({ result, error }) => {
      if (error) throw new Error(error.message)
      return result
    })
}

/** Calls one method. @throws Error as `callAll` */
export async function call(method: string, ...params: unknown[]): Promise<unknown> {
  const [result] = await callAll([[method, ...params]])
  return result
}
