/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend hooks for the slab allocator.
 *
 * They stand beside the allocation tagging hooks, because those mark exactly
 * the places where an object becomes live or dead on every path: single and
 * bulk, sheaves, kfree_rcu(), memcg abort. Each hook is one static branch when
 * tracking is off, one per-CPU subtraction (allocation, however many objects at
 * once) or one test of a word that the caller has in its cache already (free)
 * when it is on and the object is not sampled.
 */
#ifndef __MM_LEAKTREND_LEAKTREND_H
#define __MM_LEAKTREND_LEAKTREND_H

#include <linux/jump_label.h>
#include <linux/page-flags.h>
#include <linux/percpu.h>

#include "../slab.h"
#include "page_hooks.h"

/*
 * Set in slab->flags while at least one object of the slab is sampled.
 *
 * PG_owner_2 has no meaning for a slab (its users are page cache and anonymous
 * pages), is not among the flags that the page allocator rejects at free, and
 * is cleared by it when a page is freed, so that it can never leak from one
 * owner of the page to the next. SLUB writes slab->flags with atomic bit
 * operations while a slab is in use, so a bit of ours cannot be lost to one of
 * its own.
 */
#define LEAKTREND_SLAB_SAMPLED	PG_owner_2

#ifdef CONFIG_LEAKTREND

void __leaktrend_slab_alloc(struct kmem_cache *s, void **p, size_t nr, gfp_t gfp,
			    unsigned int alloc_flags, unsigned long caller);
void __leaktrend_slab_free(struct slab *slab, void **p, int objects);

/**
 * leaktrend_slab_alloc() - Objects have become live.
 * @s:		 Their cache.
 * @p:		 The objects. NULL in it where the allocation failed.
 * @nr:		 How many.
 * @gfp:	 The flags of the allocation.
 * @alloc_flags: SLAB_ALLOC_* flags of the allocation.
 * @caller:	 Return address into the code that asked for the objects; the
 *		 recorded stack begins there. 0 if not known, then it begins
 *		 at the caller of the function that this is inlined into.
 *
 * Context: Any, including NMI. Never sleeps.
 */
static __always_inline void
leaktrend_slab_alloc(struct kmem_cache *s, void **p, size_t nr, gfp_t gfp,
		     unsigned int alloc_flags, unsigned long caller)
{
	if (static_branch_unlikely(&leaktrend_key) &&
	    unlikely(this_cpu_sub_return(leaktrend_gap[LT_KIND_SLAB], (long)nr) < 0))
		__leaktrend_slab_alloc(s, p, nr, gfp, alloc_flags,
				       caller ?: _RET_IP_);
}

/**
 * leaktrend_slab_free() - Objects of one slab are about to die.
 * @slab:    The slab.
 * @p:	     The objects.
 * @objects: How many.
 *
 * The test needs no lock: the bit was set before the allocation of a sampled
 * object returned, and whoever frees the object got its address from there
 * through the same ordering that makes the object's contents visible to it.
 *
 * Context: Any context in which kfree() is allowed. Not for objects from
 * kmalloc_nolock(), which are never sampled, in contexts in which only
 * kfree_nolock() is allowed.
 */
static __always_inline void
leaktrend_slab_free(struct slab *slab, void **p, int objects)
{
	if (static_branch_unlikely(&leaktrend_key) &&
	    unlikely(test_bit(LEAKTREND_SLAB_SAMPLED, &slab->flags.f)))
		__leaktrend_slab_free(slab, p, objects);
}

#else /* CONFIG_LEAKTREND */

static inline void
leaktrend_slab_alloc(struct kmem_cache *s, void **p, size_t nr, gfp_t gfp,
		     unsigned int alloc_flags, unsigned long caller)
{
}

static inline void
leaktrend_slab_free(struct slab *slab, void **p, int objects)
{
}

#endif /* CONFIG_LEAKTREND */

#endif /* __MM_LEAKTREND_LEAKTREND_H */
