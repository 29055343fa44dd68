/** Reads the little-endian u16 at offset `at`; bytes beyond the end count as zero. */
export const u16Le = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)

/** Reads the little-endian u32 at offset `at`; bytes beyond the end count as zero. */
export const u32Le = (bytes: Uint8Array, at: number): number => (u16Le(bytes, at) | (u16Le(bytes, at + 2) << 16)) >>> 0

/** Reads the little-endian u64 at offset `at`. Exact below 2^53; greater values are rounded, and stay greater than any count or size of a file. */
export const u64Le = (bytes: Uint8Array, at: number): number => u32Le(bytes, at) + u32Le(bytes, at + 4) * 0x1_0000_0000
